'use strict';

// Managers with stand-ins for clusters, each with options of its own.

const { once } = require('node:events');

const { RustUDPClusterManager } = require('../../index.js');
const { logger } = require('../../demo/support/logger.js');
const { now } = require('../../demo/support/clock.js');
const { serve } = require('../../demo/support/parent.js');
const { follow, look } = require('./managers.js');

const managers = new Map();

serve({
    pid: () => process.pid,
    /** Starts a manager under a name; returns when it began to listen. */
    async open({ name, options }) {
        const manager = new RustUDPClusterManager({ ...options, logger });

        managers.set(name, { manager, cluster: cluster(manager) });
        follow(name, manager);
        await once(manager, 'listening');
        return now();
    },

    async close(name) {
        const { manager } = managers.get(name);

        managers.delete(name);
        await manager.destroy();
    },

    async destroy() {
        await Promise.all([...managers.values()].map(({ manager }) => manager.destroy()));
    },

    /** What each manager says there is. */
    look() {
        return [...managers].map(([name, { manager }]) => look(name, manager));
    },

    /** Per manager, the endpoints that only one of cluster and manager has. */
    compare() {
        return [...managers].map(([name, { manager, cluster }]) => {
            const servers = manager.servers.map(({ host, port }) => `${host}:${port}`);
            const both = new Set([...servers, ...cluster]);
            const odd = [...both].filter(one => !cluster.has(one) || !servers.includes(one));
            return { name, odd };
        });
    },
});

/** Attaches a cluster that keeps no more than the endpoints. */
function cluster(manager) {
    const endpoints = new Set();
    const endpoint = ({ host, port }) => `${host}:${port}`;

    manager.init({
        add: server => { endpoints.add(endpoint(server)); },
        remove: server => { endpoints.delete(endpoint(server)); },
        find: server => endpoints.has(endpoint(server)) ? server : undefined,
    });
    return endpoints;
}
