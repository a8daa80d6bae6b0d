'use strict';

// Many brokers without a Redis, as of one host: a worker thread announces each of them.

const { join } = require('node:path');
const { once } = require('node:events');
const { Worker } = require('node:worker_threads');

const { serve, settings } = require('../../demo/support/parent.js');

/** Port of a broker to its worker. */
const workers = new Map();

serve({
    pid: () => process.pid,
    /** Starts a broker; returns its guid once it is announced. */
    async join(port) {
        const workerData = { port, ...settings.announcer };
        const worker = new Worker(join(__dirname, 'crowd-worker.js'), { workerData });

        workers.set(port, worker);
        const [id] = await once(worker, 'message');
        return { id, port };
    },

    /** Lets a broker say goodbye. */
    async leave(port) {
        const worker = workers.get(port);

        workers.delete(port);
        worker.postMessage('leave');
        await once(worker, 'exit');
    },

    /** Ends a broker in the midst of its work. */
    async crash(port) {
        const worker = workers.get(port);

        workers.delete(port);
        await worker.terminate();
    },
});
