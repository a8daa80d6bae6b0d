'use strict';

// Sees to it that there are other versions of Node.js to test with: each is a package of the npm
// registry, kept under target/. `node scripts/nodes.js 22 24` installs what is missing; for other
// scripts there are functions.

const { execFileSync } = require('node:child_process');
const { existsSync, mkdirSync } = require('node:fs');
const { join } = require('node:path');

const CACHE = join(__dirname, '..', 'target', 'nodes');
const PACKAGE = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
const PROGRAM = process.platform === 'win32' ? 'node.exe' : 'node';

/**
 * The path of a Node.js that is here already.
 *
 * @param {number} major - the major version
 * @returns {string | undefined}
 */
function findNode(major) {
    if (Number(process.versions.node.split('.')[0]) === major) {
        return process.execPath;
    }
    const program = join(folder(major), 'node_modules', PACKAGE, 'bin', PROGRAM);
    return existsSync(program) ? program : undefined;
}

/**
 * The path of a Node.js, which is installed if need be.
 *
 * @param {number} major - the major version
 * @returns {string}
 * @throws {Error} when it cannot be installed
 */
function ensureNode(major) {
    if (!findNode(major)) {
        mkdirSync(folder(major), { recursive: true });
        execFileSync('npm', [
            'install', '--no-save', '--no-audit', '--no-fund',
            '--prefix', folder(major), `${PACKAGE}@${major}`,
        ], { stdio: ['ignore', 'ignore', 'inherit'], shell: process.platform === 'win32' });
    }
    return findNode(major);
}

function folder(major) {
    return join(CACHE, String(major));
}

exports.ensureNode = ensureNode;
exports.findNode = findNode;

if (require.main === module) {
    for (const major of process.argv.slice(2)) {
        console.log(`Node.js ${major}: ${ensureNode(Number(major))}`);
    }
}
