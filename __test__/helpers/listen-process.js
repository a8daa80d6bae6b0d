'use strict';

// A listener in a process of its own: prints its events, one JSON value a line, answers what it is
// asked on standard input, and ends when that does.

const { RustUDPClusterManager } = require('../../index.js');
const { monotonicNow } = require('./program.js');
const { answerQuestions, print } = require('./talk.js');

const silent = { log() {}, info() {}, warn() {}, error() {} };
const manager = new RustUDPClusterManager({ logger: silent, ...JSON.parse(process.argv[2]) });

manager.on('listening', address => print('listening', address));
manager.on('add', ({ id }) => {
    const { source } = manager.servers.find(({ guid }) => guid === id);
    print('add', { id, source });
});
manager.on('remove', ({ id, type }) => print('remove', { id, type }));

answerQuestions({
    /** Keeps the main thread from everything else for so many ms. */
    block(ms) {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(ms));
        return { stats: manager.stats() };
    },

    /** The fleet as it is now. */
    servers() {
        const { servers } = manager;
        const monotonic = monotonicNow();
        return { monotonic, now: Date.now(), servers, stats: manager.stats() };
    },

    /** Keeps the main thread as busy as it can be from now on, but open to everything else. */
    spin() {
        setImmediate(function again() {
            setImmediate(again);
        });
        return {};
    },
}).then(async () => {
    print('stats', manager.stats());
    await manager.destroy();
    // It may be spinning.
    process.exitCode ??= 0;
    process.exit();
});
