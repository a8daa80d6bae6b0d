'use strict';

const { once } = require('node:events');

const { RustUDPClusterManager } = require('../../index.js');
const { createLogger } = require('./harness.js');
const { Sender, freePort } = require('./udp.js');

/**
 * A manager that listens for real, on a port of its own, and a sender to that port.
 *
 * @param {object} [options] - of the manager
 */
async function createFleet(options) {
    const port = options?.port ?? await freePort();
    const logger = createLogger();
    const manager = new RustUDPClusterManager({ port, relay: false, logger, ...options });
    const sender = new Sender(port);
    let fences = 0;

    await once(manager, 'listening');
    return {
        logger,
        manager,
        port,
        sender,

        /** Resolves when all that was sent so far has been dealt with. */
        async fence() {
            fences += 1;
            const id = `fence-${fences}`;
            const added = until(manager, 'add', server => server.id === id);
            await sender.up({ id, host: 'fence', port: fences, name: 'fence', interval: 600 });
            await added;
        },

        async close() {
            sender.close();
            await manager.destroy();
        },
    };
}

/** Resolves with the arguments of the first event that matches. */
function until(emitter, event, matches = () => true) {
    return new Promise(resolve => {
        emitter.on(event, function listener(...args) {
            if (matches(...args)) {
                emitter.off(event, listener);
                resolve(args);
            }
        });
    });
}

/** Collects events, fences left out, as `[event, server]`. */
function collect(manager) {
    const events = [];
    for (const event of ['add', 'remove', 'update']) {
        manager.on(event, server => {
            if (server.name !== 'fence') {
                events.push([event, server]);
            }
        });
    }
    return events;
}

module.exports = { collect, createFleet, until };
