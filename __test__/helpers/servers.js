'use strict';

const { SERVERS, ensureServer } = require('../../scripts/setup-other-redis.js');
const { noNamespaces, unless } = require('./unless.js');

const ELSEWHERE = process.platform !== 'linux' && 'modules are for Linux';

/** Like `describe`, for tests of modules: where there can be none, they are skipped. */
function describeModules(title, body) {
    unless(ELSEWHERE, describe)(title, body);
}

/**
 * Like `describe`, once for the server that is installed and for each other one: `body` gets the
 * program. Where there is something `against` it, or a server cannot be had, tests are skipped.
 */
function describeServers(title, body, against = ELSEWHERE) {
    unless(against, describe)(`${title}, on the redis-server that is installed`, () => {
        body('redis-server');
    });
    for (const name of Object.keys(SERVERS)) {
        const { program, reason } = find(name);
        unless(against || reason, describe)(`${title}, on ${name}`, () => body(program));
    }
}

/** Like `describeServers`, for servers that run as in a pod. */
function describeServersInPods(title, body) {
    describeServers(title, body, noNamespaces('mount'));
}

function find(name) {
    try {
        return { program: ensureServer(name), reason: undefined };
    } catch (error) {
        return { program: undefined, reason: error.message };
    }
}

module.exports = { describeModules, describeServers, describeServersInPods };
