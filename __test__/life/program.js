'use strict';

// One process, and in some scenarios its worker, that ends in a certain way while new brokers are
// announced to it: `node program.js OPTIONS`. What it has to come to stands in scenarios.js. Threads
// that have an end of their own run this file too.

const { once } = require('node:events');
const { Worker, isMainThread, parentPort, workerData } = require('node:worker_threads');

const { RustUDPClusterManager } = require('../../index.js');

const options = isMainThread ? JSON.parse(process.argv[2]) : workerData;
const { moment, port, scenario, variant } = options;

const mainThread = {
    'process.exit': () => whenDue(createManager(), () => process.exit(7)),

    'process.exit beside workers': async () => {
        const manager = createManager();
        await Promise.all([startWorker(), startWorker()].map(listens));
        whenDue(manager, () => process.exit(7));
    },

    'uncaught exception': () => whenDue(createManager(), fail),

    'SIGTERM': () => whenDue(createManager(), say),

    'SIGTERM with a handler': () => {
        const manager = createManager();
        process.on('SIGTERM', async () => {
            if (variant === 0) {
                process.exit(3);
            }
            await manager.destroy();
            process.exitCode = 3;
        });
        whenDue(manager, say);
    },

    'worker.terminate()': async () => {
        // Node.js itself says 0 as well where it ends a worker that has not begun.
        let codes = [0, 1];
        await outlive(code => codes.includes(code), async worker => {
            worker.once('online', () => { codes = [1]; });
            if (moment.unit === 'ms') {
                await new Promise(resolve => setTimeout(resolve, moment.count));
            } else {
                await once(worker, 'message');
            }
            await worker.terminate();
        });
    },
    'process.exit of a worker': () => outlive(code => code === 5),
    'natural end of a worker': () => outlive(code => code === 0),
    'exception of a worker': () => outlive(code => code === 1),
};

const workerThread = {
    'process.exit beside workers': () => createManager().once('listening', say),
    'worker.terminate()': () => whenDue(createManager(), say),
    'process.exit of a worker': () => whenDue(createManager(), () => process.exit(5)),
    'natural end of a worker': () => {
        const manager = createManager();
        whenDue(manager, () => (variant === 0 ? manager.destroy() : manager.unref()));
    },
    'exception of a worker': () => whenDue(createManager(), fail),
};

(isMainThread ? mainThread : workerThread)[scenario]();

function createManager() {
    const logger = { log() {}, info() {}, warn() {}, error: console.error };
    return new RustUDPClusterManager({ port, logger, maxServers: 1_000_000 });
}

/** Does it in the middle of a delivery, between two of them, or so many ms from now. */
function whenDue(manager, act) {
    if (moment.unit === 'ms') {
        setTimeout(act, moment.count);
        return;
    }
    let adds = 0;
    manager.on('add', () => {
        adds += 1;
        if (adds === moment.count) {
            (moment.unit === 'turns' ? setImmediate : call)(act);
        }
    });
}

function call(act) {
    act();
}

function fail() {
    throw new Error('on purpose');
}

/** Lets those know who wait for this moment. */
function say() {
    if (isMainThread) {
        process.stdout.write('now\n');
    } else {
        parentPort.postMessage('now');
    }
}

/**
 * Lets a worker live and end, and then still hears of brokers, be it with a manager that was there
 * all the time or with one that begins anew.
 */
async function outlive(isExpected, end = () => undefined) {
    const before = variant === 0 ? createManager() : undefined;
    const worker = startWorker();
    const exit = new Promise(resolve => worker.once('exit', resolve));
    const [code] = await Promise.all([exit, end(worker)]);
    if (!isExpected(code)) {
        throw new Error(`the worker ended with ${code}`);
    }

    const manager = before ?? createManager();
    await once(manager, 'add');
    await manager.destroy();
    process.exitCode = 4;
}

function startWorker() {
    const worker = new Worker(__filename, { workerData: options });
    return worker.on('error', error => {
        if (error.message !== 'on purpose') {
            throw error;
        }
    });
}

function listens(worker) {
    return once(worker, 'message');
}
