'use strict';

const { format } = require('node:util');

/** Where @imqueue/core and the cluster manager log: standard output, so that errors stand out. */
const logger = { log: write, info: write, warn: write, error: write };

function write(...args) {
    process.stdout.write(`${format(...args)}\n`);
}

exports.logger = logger;
