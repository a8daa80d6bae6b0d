'use strict';

// A process with managers of one make, each on a port of its own with a stand-in cluster. It is
// told to open and close them, and tells what the clusters are told.
//
// Markers are brokers of the harness under a name of its own: they are no part of what is told, but
// it is said when one was seen and when one was removed.

const { StandInCluster } = require('./stand-in-cluster.js');

const MARKER = 'marker';
const silent = { log() {}, info() {}, warn() {}, error() {} };
const managers = new Map();

const makes = {
    original(options, cluster) {
        const { UDPClusterManager } = require('@imqueue/core');
        const manager = new UDPClusterManager(options);

        manager.init(cluster);
        return manager;
    },
    ours(options, cluster) {
        const { UDPClusterManager } = require('../../index.js');
        const manager = new UDPClusterManager({ ...options, logger: silent, relay: false });

        manager.init(cluster);
        manager.on('add', ({ id, name }) => name === MARKER && cluster.seen(id));
        manager.on('update', ({ id, name }) => name === MARKER && cluster.seen(id));
        return manager;
    },
};

/** Tells on behalf of a lane, and knows the original's markers by what is looked for. */
function createCluster(lane) {
    const cluster = new StandInCluster((op, server) => {
        if (server.name !== MARKER) {
            process.send({ lane, op, server });
        } else if (op === 'remove') {
            process.send({ lane, lapsed: true });
        }
    });
    // All that is delivered together with a marker comes before it.
    const seen = id => setImmediate(() => process.send({ lane, seen: Number(id.split('-')[1]) }));

    return {
        seen,
        add: server => cluster.add(server),
        remove: server => cluster.remove(server),
        find: server => {
            if (server.name === MARKER && make === 'original') {
                seen(server.id);
            }
            return cluster.find(server);
        },
    };
}

const [make] = process.argv.slice(2);

process.on('message', async ({ open, close, options }) => {
    if (open !== undefined) {
        managers.set(open, makes[make](options, createCluster(open)));
    } else {
        await managers.get(close).destroy();
        managers.delete(close);
        process.send({ lane: close, closed: true });
    }
});
process.once('disconnect', () => process.exit());
