'use strict';

const { createFacade } = require('../../lib/facade.js');
const { createFakeBinding } = require('./fake-binding.js');

/** A logger whose lines tests can read. */
function createLogger() {
    return { log: jest.fn(), info: jest.fn(), warn: jest.fn(), error: jest.fn() };
}

/** The facade over a fake binding, with managers and announcers that log to `logger`. */
function createHarness() {
    const binding = createFakeBinding();
    const facade = createFacade(() => binding);
    const logger = createLogger();

    return {
        binding,
        facade,
        logger,
        createManager: options => new facade.RustUDPClusterManager({ logger, ...options }),
        createAnnouncer: options => new facade.Announcer({
            host: '10.0.0.1',
            port: 6379,
            logger,
            ...options,
        }),
        /** The native listener or announcer that was made last. */
        get listener() {
            return binding.listeners.at(-1);
        },
        get announcer() {
            return binding.announcers.at(-1);
        },
        get environment() {
            return binding.environments.at(-1);
        },
    };
}

/** A broker as the native side tells of it. */
function aServer(number = 1, more = {}) {
    return {
        id: `id-${number}`,
        name: 'imq-broker',
        host: `10.0.0.${number}`,
        port: 6379,
        timeout: 1000,
        ...more,
    };
}

/** What a cluster is given for it. */
function aRecord(number = 1, more = {}) {
    return { ...aServer(number), type: 'up', ...more };
}

/**
 * A cluster that keeps its brokers as the one of `@imqueue/core` 2.x does: found by id or address.
 */
function createCluster(more = {}) {
    const servers = [];
    const matches = (a, b) => a.id === b.id || (a.host === b.host && a.port === b.port);
    const find = server => servers.find(other => matches(other, server));

    return {
        servers,
        add: jest.fn(server => {
            servers.push(server);
            return server;
        }),
        remove: jest.fn(server => {
            const index = servers.findIndex(other => matches(other, server));
            if (index >= 0) {
                servers.splice(index, 1);
            }
        }),
        find: jest.fn(find),
        ...more,
    };
}

/** Rows for `it.each`: an option, a value that it cannot have, and the error that says so. */
function invalidOptions(error, table) {
    return Object.entries(table).flatMap(
        ([option, values]) => values.map(value => [option, value, error]),
    );
}

/** Lets every microtask that is due run. */
function settle() {
    return new Promise(resolve => jest.requireActual('node:timers').setImmediate(resolve));
}

module.exports = {
    aRecord, aServer, createCluster, createHarness, createLogger, invalidOptions, settle,
};
