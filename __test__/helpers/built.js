'use strict';

const { readdirSync } = require('node:fs');
const { join } = require('node:path');

const { ROOT } = require('./run-node.js');

/** The path of the native binding that `npm run build` has made. */
function builtBinding() {
    return join(ROOT, readdirSync(ROOT).find(name => name.endsWith('.node')));
}

exports.builtBinding = builtBinding;
