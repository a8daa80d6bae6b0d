'use strict';

const { DRAIN } = require('./differences.js');
const { readByOriginal } = require('./original-model.js');
const { endpointOf } = require('./rules-model.js');
const { StandInCluster } = require('./stand-in-cluster.js');
const { compare, keyOf, matchesTold, print, without } = require('./told.js');
const { wireReason } = require('./wire-reason.js');

/**
 * Says of each difference between what the two clusters were told which rule makes it.
 *
 * A difference is explained by what the rules made of the datagram behind it. Where they made of it
 * what the original did, it can only follow from an earlier difference: then the two clusters did
 * not have the same at that endpoint or guid.
 */
class Explainer {
    #clusters = { theirs: new StandInCluster(), ours: new StandInCluster() };
    #datagrams;
    #original;
    #rules;
    /** By endpoint and by guid: the rules that have made a difference there. */
    #traces = new Map();

    /**
     * @param {Buffer[]} datagrams - of the sequence, all in one list
     * @param {import('./original-model.js').OriginalModel} original - as it is after each step
     * @param {import('./rules-model.js').RulesModel} rules - as it is after each step
     */
    constructor(datagrams, original, rules) {
        this.#datagrams = datagrams;
        this.#original = original;
        this.#rules = rules;
    }

    /**
     * Explains one step.
     *
     * @param {object[]} theirs - what the original told, as its model has it
     * @param {object[]} ours - what our manager told
     * @param {object[]} events - what happened in the fleet by the rules
     * @param {object[]} undrained - what would have been told of each event by itself
     * @returns {{ told: object, side: string, reasons: string[], follows: boolean }[]} the
     *     differences; no reasons means that there are none, and `follows` that they are those of
     *     earlier ones
     */
    explain(theirs, ours, events, undrained) {
        const { onlyTheirs, onlyOurs, pairs } = compare(theirs, ours);
        const drained = without(undrained, ours);
        const step = { events, ours, undrained, drained, other: without(ours, undrained) };
        const unlike = pairs.filter(([their, our]) => print(their) !== print(our));
        const differences = [
            ...onlyTheirs.map(told => ['original', told, this.#reasonOfTheirs(told, step)]),
            ...onlyOurs.map(told => ['ours', told, this.#reasonOfOurs(told, step)]),
            ...unlike.map(([their, our]) => ['both', our, this.#reasonOfDetails(their, our, step)]),
        ].map(([side, told, reason]) => ({ side, told, reason }));
        // What both were told for different reasons is no difference, but others may follow from it.
        const alike = pairs
            .filter(([their, our]) => events.findLast(matchesTold(our))?.datagram !== their.datagram)
            .map(([, told]) => ({ told, reason: this.#reasonOfOurs(told, step) }));

        this.#resolve([...differences, ...alike]);
        repeat(theirs, this.#clusters.theirs);
        repeat(ours, this.#clusters.ours);
        this.#spread();
        return differences.map(({ side, told, reason, reasons = [] }) => {
            return { side, told, reasons, follows: !reason };
        });
    }

    /** Whether the clusters have different servers at this endpoint or under this guid. */
    #areApart(server) {
        const [theirs, ours] = Object.values(this.#clusters).map(
            cluster => cluster.findAll(server).map(found => keyOf({ server: found })).sort().join(),
        );
        return theirs !== ours;
    }

    /** Those without a reason of their own follow from others, which may be of the same step. */
    #resolve(differences) {
        const resolved = differences.filter(({ reason }) => reason);
        let open = differences.filter(({ reason }) => !reason);
        let count;

        resolved.forEach(difference => (difference.reasons = [difference.reason]));
        resolved.forEach(({ told, reasons }) => this.#trace(told, reasons));
        do {
            count = open.length;
            open = open.filter(difference => {
                const { told } = difference;
                if (!this.#areApart(told.server) && !sharesTrace(told, resolved)) {
                    return true;
                }
                difference.reasons = this.#tracesOf(told);
                resolved.push(difference);
                this.#trace(told, difference.reasons);
                return false;
            });
        } while (open.length < count);
    }

    /** What only one of them has is apart at its endpoint because it is at its guid, or the reverse. */
    #spread() {
        const [theirs, ours] = Object.values(this.#clusters).map(
            cluster => cluster.servers.map(server => ({ op: 'has', server })),
        );
        const lone = [...without(theirs, ours), ...without(ours, theirs)];

        lone.forEach(told => this.#trace(told, this.#tracesOf(told)));
    }

    /** All rules that have made a difference where this is about. */
    #tracesOf(told) {
        return [...new Set(traceKeys(told).flatMap(key => [...this.#traces.get(key) ?? []]))];
    }

    #trace(told, reasons) {
        for (const key of traceKeys(told)) {
            this.#traces.set(key, new Set([...this.#traces.get(key) ?? [], ...reasons]));
        }
    }

    #reasonOfTheirs(told, { events, ours, drained }) {
        const byDatagram = this.#reasonOfDatagram(told.datagram);
        const { server, op, timed } = told;
        const event = events.findLast(matchesTold(told));

        if (byDatagram) {
            return byDatagram;
        }
        if (op === 'remove' && event && ours.some(matchesTold(told))) {
            return 'rule 3';
        }
        if (drained.some(matchesTold(told))) {
            return DRAIN;
        }
        if (op === 'add') {
            return this.#reasonOfAdd(told);
        }
        if (event) {
            return 'find';
        }
        return timed ? this.#reasonOfDeadline(server) : 'rule 6';
    }

    /** Of an `up` of an endpoint that is known here, and that was not given to the cluster. */
    #reasonOfAdd({ server, datagram }) {
        if (this.#rules.verdicts[datagram].standby) {
            return 'rule 4';
        }
        return isWithin(this.#clusters.ours, server) ? undefined : 'find';
    }

    /** Of a deadline that removes something in the original, and nothing here. */
    #reasonOfDeadline(server) {
        const endpoint = this.#rules.at(server);

        if (this.#rules.lastOwners.get(endpointOf(server)) !== server.id) {
            return 'rule 3';
        }
        if (endpoint?.graced) {
            return 'rule 12';
        }
        return endpoint?.active ? undefined : 'rule 4';
    }

    #reasonOfOurs(told, { events, other }) {
        const event = events.findLast(matchesTold(told));

        if (!event) {
            return 'find';
        }
        const wire = wireReason(this.#datagrams[event.datagram]);
        if (wire) {
            return wire;
        }
        if (other.includes(told)) {
            return DRAIN;
        }
        if (event.heir) {
            return 'rule 5';
        }
        if (told.op === 'add') {
            return undefined;
        }
        if (told.server.id !== event.server.id) {
            return 'rule 3';
        }
        return event.reason === 'up' ? this.#reasonOfOwnDeadline(event) : undefined;
    }

    /** Of a deadline that removes something here, and nothing in the original. */
    #reasonOfOwnDeadline({ datagram, endpoint }) {
        const superseding = this.#original.superseded.get(datagram);

        if (superseding !== undefined) {
            return this.#reasonOfDatagram(superseding) ?? 'rule 5';
        }
        return endpoint.graced ? 'rule 12' : undefined;
    }

    /** Of a datagram that the original acts upon, and that is ignored or read otherwise here. */
    #reasonOfDatagram(datagram) {
        const bytes = this.#datagrams[datagram];
        const { rule, ignored } = this.#rules.verdicts[datagram];
        const isDown = readByOriginal(bytes).type === 'down';

        return wireReason(bytes)
            ?? (ignored && `option ${ignored}`)
            ?? ([7, 8, 10].includes(rule) || (rule === 3 && isDown) ? `rule ${rule}` : undefined);
    }

    #reasonOfDetails(their, our, { events, undrained }) {
        if (our.op === 'remove') {
            return 'record of a remove';
        }
        const { transport, ...rest } = our.server;
        if (print(their) === print({ ...our, server: rest })) {
            return 'wire: transport';
        }
        const event = events.findLast(matchesTold(our));
        if (!event) {
            return 'find';
        }
        if (!undrained.map(print).includes(print(our))) {
            return DRAIN;
        }
        return event.heir || this.#rules.verdicts[event.datagram].rule === 9
            ? 'record of a standby'
            : this.#reasonOfDatagram(their.datagram);
    }
}

/** What a difference leaves its trace at: also what a cluster has dropped by the way. */
const traceKeys = ({ server, gone = [] }) => [server, ...gone].flatMap(
    one => [`endpoint ${endpointOf(one)}`, `guid ${one.id}`],
);

const sharesTrace = (told, others) => {
    const keys = new Set(others.flatMap(other => traceKeys(other.told)));
    return traceKeys(told).some(key => keys.has(key));
};

/** Whether a cluster has a server at just this endpoint. */
function isWithin(cluster, server) {
    const found = cluster.find({ ...server, id: undefined });
    return found !== undefined && endpointOf(found) === endpointOf(server);
}

function repeat(tolds, cluster) {
    tolds.forEach(({ op, server }) => cluster[op](server));
}

exports.Explainer = Explainer;
