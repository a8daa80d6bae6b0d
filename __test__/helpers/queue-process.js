'use strict';

// A service's queue in a process of its own, on a real Redis: prints each broker that it has
// connected to or loses, and ends when its standard input does. Only an uncaught exception ends it
// otherwise.

const { ClusteredRedisQueue } = require('@imqueue/core');

const { RustUDPClusterManager } = require('../../index.js');

const silent = { log() {}, info() {}, warn() {}, error() {} };
const manager = new RustUDPClusterManager({ logger: silent, ...JSON.parse(process.argv[2]) });
const queue = new ClusteredRedisQueue('test', { clusterManagers: [manager], logger: silent });

const print = line => process.stdout.write(`${line}\n`);

manager.once('listening', () => print('listening'));
manager.on('remove', ({ port }) => print(`removed ${port}`));
// Private to core, but nothing else tells when a queue has its connections.
queue.clusterEmitter.on('initialized', ({ server }) => print(`connected ${server.port}`));

queue.start();
process.stdin.resume().once('end', () => queue.destroy());
