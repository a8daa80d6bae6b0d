'use strict';

const os = require('node:os');
const { execFileSync } = require('node:child_process');
const { dirname, join } = require('node:path');
const { existsSync } = require('node:fs');

/** Under which circumstances something is measured. */
function describeRun({ peer, quick, trials }) {
    return {
        date: new Date().toISOString(),
        machine: `${os.cpus().length} × ${os.cpus()[0].model}`,
        memoryGb: Math.round(os.totalmem() / 2 ** 30),
        kernel: `${os.type()} ${os.release()} ${os.arch()}`,
        node: process.version,
        rust: output('rustc', '--version'),
        commit: commit(),
        peer: versionOf(peer),
        load: os.loadavg().map(load => Number(load.toFixed(2))),
        quick,
        trials,
    };
}

function commit() {
    const changed = output('git', 'status', '--porcelain', '--untracked-files=no') !== '';

    return output('git', 'rev-parse', '--short', 'HEAD') + (changed ? ' with changes' : '');
}

/** The version of the package that a file belongs to. */
function versionOf(file) {
    let folder = dirname(file);
    while (!existsSync(join(folder, 'package.json'))) {
        folder = dirname(folder);
    }
    const { name, version } = require(join(folder, 'package.json'));
    return `${name} ${version}`;
}

function output(command, ...args) {
    try {
        return execFileSync(command, args, { cwd: __dirname, encoding: 'utf8' }).trim();
    } catch {
        return 'unknown';
    }
}

exports.describeRun = describeRun;
