'use strict';

const { SERVERS, ensureServer } = require('../../scripts/setup-other-redis.js');

/** Modules are for Linux. */
const describeModules = process.platform === 'linux'
    ? describe
    : (title, ...rest) => describe.skip(`${title} (modules are for Linux)`, ...rest);

/**
 * Like `describe`, once for the server that is installed and for each other one that can be had;
 * where one cannot, its tests are skipped.
 */
function describeServers(title, body) {
    describeModules(`${title}, on the redis-server that is installed`, () => body('redis-server'));
    for (const name of Object.keys(SERVERS)) {
        let program;
        let reason;
        try {
            program = ensureServer(name);
        } catch (error) {
            reason = error.message;
        }
        const run = program ? describeModules : describe.skip;
        run(`${title}, on ${name}${program ? '' : ` (${reason})`}`, () => body(program, name));
    }
}

module.exports = { describeModules, describeServers };
