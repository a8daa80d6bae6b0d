'use strict';

const os = require('node:os');
const { execFileSync } = require('node:child_process');
const { dirname, join } = require('node:path');
const { existsSync } = require('node:fs');

const UNKNOWN = 'unknown';

/** Under which circumstances something is measured. */
function describeRun({ peer, quick, trials }) {
    return {
        date: new Date().toISOString(),
        machine: `${os.cpus().length} × ${os.cpus()[0].model}`,
        memoryGb: Math.round(os.totalmem() / 2 ** 30),
        kernel: `${os.type()} ${os.release()} ${os.arch()}`,
        // How many bytes a socket can hold that nobody has read: in a flood it decides what is lost.
        rmemMax: output('cat', '/proc/sys/net/core/rmem_max'),
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
    const head = output('git', 'rev-parse', '--short', 'HEAD');
    const changes = output('git', 'status', '--porcelain', '--untracked-files=no');

    return head + (['', UNKNOWN].includes(changes) ? '' : ' with changes');
}

/** The version of the package that a file belongs to. */
function versionOf(file) {
    let folder = dirname(file);
    while (!existsSync(join(folder, 'package.json'))) {
        if (folder === dirname(folder)) {
            return file;
        }
        folder = dirname(folder);
    }
    const { name, version } = require(join(folder, 'package.json'));
    return `${name} ${version}`;
}

function output(command, ...args) {
    try {
        const stdio = ['ignore', 'pipe', 'ignore'];
        return execFileSync(command, args, { cwd: __dirname, encoding: 'utf8', stdio }).trim();
    } catch {
        return UNKNOWN;
    }
}

exports.describeRun = describeRun;
