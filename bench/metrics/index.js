'use strict';

// In the order of the table.
const NAMES = [
    'first-add',
    'memory',
    'latency',
    'heartbeats',
    'storm',
    'idle',
    'destroy',
    'floor',
    'core',
    'size',
];

/**
 * Each metric has a `name`, the `subjects` that are measured, the `rows` that it fills (see
 * `../verdict.js`), and `measure(tools)`, which resolves with numbers by key. Where more than so
 * many trials tell nothing new, it says `trials`; where so many times more are needed, `repeats`.
 */
module.exports = NAMES.map(name => ({ name, ...require(`./${name}.js`) }));
