'use strict';

const { copyFileSync, readdirSync, renameSync } = require('node:fs');
const { execFileSync } = require('node:child_process');
const { join } = require('node:path');

const { ROOT } = require('./run-node.js');

/** Apart from other builds: Cargo keeps one library a folder, whatever its features. */
const TARGET = join(ROOT, 'target', 'faults');

/**
 * Builds the native binding with functions that panic.
 *
 * @returns {string} the path of its .node file
 */
function buildFaults() {
    execFileSync('cargo', [
        'build', '--quiet', '--locked', '--features', 'fault-injection', '--target-dir', TARGET,
    ], { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] });

    const folder = join(TARGET, 'debug');
    const library = readdirSync(folder)
        .find(name => /^(lib)?imqueue_udp_cluster\.(so|dylib|dll)$/.test(name));
    const binding = join(TARGET, 'imqueue-udp-cluster.node');
    // Whoever has loaded the one that was there before keeps it.
    copyFileSync(join(folder, library), `${binding}.new`);
    renameSync(`${binding}.new`, binding);
    return binding;
}

exports.buildFaults = buildFaults;
