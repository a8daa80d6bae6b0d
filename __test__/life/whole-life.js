'use strict';

// All that can happen to the native side in a process's life, once and slowly enough for a memory
// checker: managers and announcers begin and end, brokers come, restart and go, a worker ends by
// itself and another one is terminated. Prints `whole` at the end.

const { once } = require('node:events');
const { Worker, isMainThread, parentPort, workerData } = require('node:worker_threads');

const { Announcer, RustUDPClusterManager } = require('../../index.js');
const { Sender, datagram, freePort } = require('../helpers/udp.js');

const logger = { log() {}, info() {}, warn() {}, error: console.error };

(isMainThread ? live : work)();

async function live() {
    const port = await freePort();
    const sender = new Sender(port);

    // The first round begins and ends with the hub thread alone, the second one beside a worker.
    await serve(port, sender);
    const worker = await startWorker(port, sender);
    await serve(port, sender);
    await idle(worker);
    await worker.terminate();
    await endOf(await startWorker(port, sender), sender);
    await announce(port);

    sender.close();
    console.log('whole');
}

async function serve(port, sender) {
    const manager = createManager(port);
    await once(manager, 'listening');
    const cluster = manager.init({ add() {}, remove() {} });

    await told(manager, 'add', () => sender.up({ interval: 60 }));
    await told(manager, 'update', () => sender.up({ id: 'id-2', interval: 60 }));
    await told(manager, 'remove', () => sender.down({ id: 'id-2' }));
    await told(manager, 'remove', () => sender.up({ host: '10.0.0.3', interval: 0.1 }));
    for (const garbage of ['', '\t\t\t', '\xff\0', datagram({ interval: 'NaN' })]) {
        await sender.send(Buffer.from(garbage, 'latin1'));
    }
    for (let number = 0; number < 500; number += 1) {
        await sender.up({ id: `id-${number}`, host: `10.1.0.${number & 255}`, port: number + 1 });
    }
    manager.servers.forEach(({ source }) => source.length);
    manager.stats();
    await manager.remove(cluster, false);
    await manager.destroy();
}

async function announce(port) {
    const manager = createManager(port);
    const announcer = new Announcer({
        host: '10.0.0.9',
        port: 6379,
        interval: 0.1,
        destinations: [`127.0.0.1:${port}`, `localhost:${port}`],
        logger,
    });
    await Promise.all([once(manager, 'add'), announcer.start()]);
    await Promise.all([once(manager, 'remove'), announcer.stop()]);
    await manager.destroy();
}

function work() {
    const manager = createManager(workerData);
    parentPort.on('message', () => setImmediate(() => parentPort.postMessage('idle')));
    manager.once('listening', () => parentPort.postMessage('listening'));
    manager.on('add', ({ id }) => {
        if (id === 'end') {
            manager.destroy();
            parentPort.close();
        }
    });
}

/** napi-rs loses 24 bytes with a wake-up that is on its way to a worker that is terminated. */
async function idle(worker) {
    worker.postMessage('idle?');
    await once(worker, 'message');
}

async function startWorker(port) {
    const worker = new Worker(__filename, { workerData: port });
    await once(worker, 'message');
    return worker;
}

async function endOf(worker, sender) {
    await Promise.all([once(worker, 'exit'), sender.up({ id: 'end', host: '10.0.0.4' })]);
}

function createManager(port) {
    return new RustUDPClusterManager({ port, logger, aliveTimeoutCorrection: 100 });
}

async function told(manager, event, cause) {
    await Promise.all([once(manager, event), cause()]);
}
