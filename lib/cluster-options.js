'use strict';

const { readEndpoint } = require('./endpoint.js');
const { readFlag } = require('./flag.js');

const DEFAULT_CLUSTER = 'localhost:6379';

/**
 * Makes the `clusterOptions` of index.d.ts.
 *
 * @param {new (options?: object) => object} ClusterManager - what finds the brokers unless that is switched off
 * @returns {(env?: Record<string, string | undefined>, options?: object) => object}
 */
function createClusterOptions(ClusterManager) {
    return function clusterOptions(env = process.env, options) {
        const disabled = readFlag(env, 'DISABLE_CLUSTER_MANAGER', false);

        if (disabled.warning) {
            console.warn(`clusterOptions: ${disabled.warning}`);
        }
        return disabled.value
            ? { cluster: readCluster(env.REDIS_CLUSTER) }
            : { clusterManagers: [new ClusterManager(options)] };
    };
}

function readCluster(text) {
    const entries = (text?.trim() || DEFAULT_CLUSTER).split(',').map(entry => entry.trim());

    while (entries.length > 1 && entries.at(-1) === '') {
        entries.pop();
    }
    return entries.map(entry => readEndpoint(entry) ?? malformed(entry, text));
}

function malformed(entry, text) {
    const message = `REDIS_CLUSTER has the entry ${JSON.stringify(entry)}, which is not host:port`
        + ' (an IPv6 address in brackets, a port from 1 to 65535);'
        + ` the whole value is ${JSON.stringify(text)}`;

    throw Object.assign(new Error(message), { code: 'ERR_REDIS_CLUSTER' });
}

exports.createClusterOptions = createClusterOptions;
