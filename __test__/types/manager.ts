// Compiled, never run: what services write must type-check, and what is wrong must not.

import IMQ, { ClusteredRedisQueue, type ILogger, type IMQOptions } from '@imqueue/core';
import {
    DEFAULT_UDP_CLUSTER_MANAGER_OPTIONS,
    RustUDPClusterManager,
    UDPClusterManager,
    type ClusterServer,
    type ClusterServerInfo,
    type ClusterStats,
    type ICluster,
    type InitializedCluster,
    type RustUDPClusterManagerOptions,
} from 'imqueue-udp-cluster';

declare const logger: ILogger;

// A manager is what `clusterManagers` takes.
const options: Partial<IMQOptions> = {
    clusterManagers: [new RustUDPClusterManager(), new UDPClusterManager({ port: 63001 })],
};
IMQ.create('service', options);
new ClusteredRedisQueue('service', { clusterManagers: [new RustUDPClusterManager({ logger })] });

// Options.
const full: RustUDPClusterManagerOptions = {
    ...DEFAULT_UDP_CLUSTER_MANAGER_OPTIONS,
    address: '10.0.1.255',
    limitedAddress: '255.255.255.255',
    logger,
    name: ['imq-broker', 'other'],
};
new RustUDPClusterManager(full);
new RustUDPClusterManager({ name: 'imq-broker', maxServers: 16, relay: false });
// @ts-expect-error a port is a number
new RustUDPClusterManager({ port: '63000' });
// @ts-expect-error there is no such option
new RustUDPClusterManager({ ports: 63000 });
// @ts-expect-error a logger has four functions
new RustUDPClusterManager({ logger: { log() {} } });
// @ts-expect-error a name is a string
new RustUDPClusterManager({ name: 7 });

// Members.
const manager = new RustUDPClusterManager();
declare const cluster: ICluster;
const initialized: InitializedCluster = manager.init(cluster);
const id: string = initialized.id;
const removed: Promise<void> = manager.remove(id);
const removedToo: Promise<void> = manager.remove(initialized, false);
const destroyed: Promise<void> = manager.destroy();
const each: Promise<void> = manager.forEachCluster(({ id: _id }) => undefined);
const any: Promise<void> = manager.anyCluster(async ({ remove: _remove }) => undefined);
const listening: boolean = manager.listening;
const chained: RustUDPClusterManager = manager.unref().ref();
const info: ClusterServerInfo | undefined = manager.servers[0];
const seen: number | undefined = info?.lastSeen;
const stats: ClusterStats = manager.stats();
const count: number = stats.rejected.interval + stats.ignored.notOwner + stats.wakeups;
export { any, chained, count, destroyed, each, listening, removed, removedToo, seen };
// @ts-expect-error it is read only
manager.listening = true;
// @ts-expect-error it is read only
manager.servers = [];
// @ts-expect-error a cluster has functions
manager.init({});
// @ts-expect-error it is protected, as in the original
manager.clusters;

// Events.
manager.on('add', server => {
    const { transport, type, ...others }: ClusterServer = server;
    const transports: 'plain' | 'tls' | undefined = transport;
    const types: 'up' | 'down' = type;
    return [transports, types, others.timeout.toFixed()];
});
manager.once('remove', ({ host, port }) => `${host.trim()}:${port.toFixed()}`);
manager.on('update', (server, previousId) => server.id === previousId);
manager.on('listening', ({ address, port }) => `${address.trim()}:${port.toFixed()}`);
manager.on('close', () => undefined).off('close', () => undefined);
// @ts-expect-error a server has no such property
manager.on('add', server => server.hostname);
// @ts-expect-error close has no arguments
manager.on('close', (reason: string) => reason);

// Subclasses.
class Counting extends RustUDPClusterManager {
    added = 0;

    constructor() {
        super({ port: 63001 });
        this.on('add', () => { this.added += 1; });
    }

    get size(): number {
        return this.clusters.length;
    }
}
const subclassed: IMQOptions['clusterManagers'] = [new Counting()];
export { subclassed };
