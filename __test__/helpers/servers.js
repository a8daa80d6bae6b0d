'use strict';

const { SERVERS, ensureServer } = require('../../scripts/setup-other-redis.js');
const { Lan } = require('./lan.js');

const ELSEWHERE = process.platform !== 'linux' && 'modules are for Linux';

/** Like `describe`, for tests of modules: where there can be none, they are skipped. */
function describeModules(title, body) {
    describeUnless(ELSEWHERE, title, body);
}

/**
 * Like `describe`, once for the server that is installed and for each other one: `body` gets the
 * program. Where a server cannot be had, its tests are skipped.
 */
function describeServers(title, body) {
    describeUnless(ELSEWHERE, `${title}, on the redis-server that is installed`, () => {
        body('redis-server');
    });
    for (const name of Object.keys(SERVERS)) {
        const { program, reason } = find(name);
        describeUnless(reason, `${title}, on ${name}`, () => body(program));
    }
}

/** Like `describeServers`, for servers that run as in a pod. */
function describeServersInPods(title, body) {
    if (Lan.available) {
        describeServers(title, body);
    } else {
        describe.skip(`${title} (mount namespaces need root on Linux)`, () => {
            describeServers(title, body);
        });
    }
}

function find(name) {
    try {
        return { program: ensureServer(name), reason: ELSEWHERE };
    } catch (error) {
        return { program: undefined, reason: error.message };
    }
}

function describeUnless(reason, title, body) {
    if (reason) {
        describe.skip(`${title} (${reason})`, body);
    } else {
        describe(title, body);
    }
}

module.exports = { describeModules, describeServers, describeServersInPods };
