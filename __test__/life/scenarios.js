'use strict';

/**
 * How each way to end has to end, by the name that program.js knows it by. Where a worker ends, the
 * main thread goes on, and has its own exit code.
 */
const SCENARIOS = {
    'process.exit': { code: 7, signal: null },
    'process.exit beside workers': { code: 7, signal: null },
    'uncaught exception': { code: 1, signal: null, stderr: /^Error: on purpose$/m },
    'SIGTERM': { code: null, signal: 'SIGTERM', kill: true },
    'SIGTERM with a handler': { code: 3, signal: null, kill: true },
    'worker.terminate()': { code: 4, signal: null },
    'process.exit of a worker': { code: 4, signal: null },
    'natural end of a worker': { code: 4, signal: null },
    'exception of a worker': { code: 4, signal: null },
};

exports.SCENARIOS = SCENARIOS;
