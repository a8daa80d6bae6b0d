'use strict';

// Uses whatever brokers announce themselves, and tells which come and go.

require('reflect-metadata');
const { default: IMQ } = require('@imqueue/core');
const { RustUDPClusterManager } = require('imqueue-udp-cluster');

const manager = new RustUDPClusterManager();
const queue = IMQ.create('example', { clusterManagers: [manager] });

manager.on('listening', () => console.log('listening'));
manager.on('add', ({ host, port }) => console.log(`joined ${host}:${port}`));
manager.on('remove', ({ host, port }) => console.log(`left ${host}:${port}`));
queue.on('message', (message, id, from) => console.log(`from ${from}:`, message));

queue.start();

for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, async () => {
        await queue.destroy();
        process.exit();
    });
}
