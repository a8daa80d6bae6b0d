'use strict';

const { endpointOf } = require('./rules-model.js');

/** All that a cluster was told, on one line. */
function print({ op, server }) {
    const { id, name, type, timeout, transport = '' } = server;
    const words = JSON.stringify([id, endpointOf(server), name, type]);

    return `${op} ${words} ${timeout} ${transport}`.trim();
}

/** Pairs what both were told, in whatever order within the step; what is the very same first. */
function compare(theirs, ours) {
    const pairs = [];
    const pairUp = (onlyTheirs, onlyOurs, by) => {
        const rest = [...onlyOurs];
        const alone = onlyTheirs.filter(their => {
            const index = rest.findIndex(our => by(our) === by(their));
            if (index >= 0) {
                pairs.push([their, ...rest.splice(index, 1)]);
            }
            return index < 0;
        });
        return [alone, rest];
    };
    const [onlyTheirs, onlyOurs] = pairUp(...pairUp(theirs, ours, print), keyOf);

    return { onlyTheirs, onlyOurs, pairs };
}

/** Those of a list that are not in the other, which may have each once. */
function without(list, other) {
    const rest = other.map(keyOf);

    return list.filter(told => {
        const index = rest.indexOf(keyOf(told));
        if (index >= 0) {
            rest.splice(index, 1);
        }
        return index < 0;
    });
}

/** What it is about: not how the server is described. */
const keyOf = ({ op, server }) => `${op} ${server.id} ${endpointOf(server)}`;

/** Of an event or of what was told: the same, whatever the guid. */
const matchesTold = told => other => other.op === told.op
    && endpointOf(other.server) === endpointOf(told.server);

module.exports = { compare, keyOf, matchesTold, print, without };
