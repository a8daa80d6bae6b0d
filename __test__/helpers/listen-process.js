'use strict';

// A listener in a process of its own: prints its events, one JSON value a line, and ends when its
// standard input does.

const { RustUDPClusterManager } = require('../../index.js');

const silent = { log() {}, info() {}, warn() {}, error() {} };
const options = JSON.parse(process.argv[2] ?? '{}');
const manager = new RustUDPClusterManager({ logger: silent, ...options });
const print = line => process.stdout.write(`${JSON.stringify(line)}\n`);

manager.on('listening', address => print({ event: 'listening', ...address }));
manager.on('add', ({ id }) => {
    const { source } = manager.servers.find(({ guid }) => guid === id);
    print({ event: 'add', id, source });
});
manager.on('remove', ({ id }) => print({ event: 'remove', id }));

process.stdin.resume().once('end', async () => {
    print({ event: 'stats', ...manager.stats() });
    await manager.destroy();
});
