'use strict';

const { execFileSync } = require('node:child_process');
const { mkdtempSync, readdirSync, rmSync, statSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');

const ROOT = join(__dirname, '..', '..');
const KB = 1024;

/** What is downloaded: the binary, and the package without it. */
module.exports = {
    subjects: ['ours'],
    trials: 1,
    rows: [
        {
            title: 'the .node file',
            unit: 'KB',
            ours: 'binary',
            against: null,
            target: { most: 1.2 * KB },
        },
        {
            title: 'the npm tarball without it',
            unit: 'KB',
            ours: 'tarball',
            against: null,
            target: { most: 60 },
        },
    ],

    async measure() {
        const [binary] = readdirSync(ROOT).filter(name => name.endsWith('.node'));
        return {
            binary: Math.round(statSync(join(ROOT, binary)).size / KB),
            tarball: Math.round(tarballSize(binary) / KB),
        };
    },
};

/** Packs the package as it is published: the binary is in a package of its own. */
function tarballSize(binary) {
    const scratch = mkdtempSync(join(tmpdir(), 'imqueue-udp-size-'));
    try {
        const packed = pack(ROOT, scratch);
        execFileSync('tar', ['-xzf', packed, '-C', scratch]);
        rmSync(join(scratch, 'package', binary));
        return statSync(pack(join(scratch, 'package'), scratch)).size;
    } finally {
        rmSync(scratch, { recursive: true, force: true });
    }
}

function pack(folder, destination) {
    const args = [
        'pack', '--json', '--ignore-scripts', '--no-update-notifier',
        '--pack-destination', destination,
    ];
    const [{ filename }] = JSON.parse(execFileSync('npm', args, { cwd: folder, encoding: 'utf8' }));
    return join(destination, filename);
}
