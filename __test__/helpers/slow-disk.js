'use strict';

const { execFileSync } = require('node:child_process');
const { mkdtempSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');

/**
 * A slow disk for the processes that are started with its `env`: how long a real one takes, nobody
 * can tell. Needs Linux, and the C compiler that Rust links with.
 */
class SlowDisk {
    #directory = mkdtempSync(join(tmpdir(), 'imqueue-slow-disk-'));

    /** @param {number} delay - ms that `fdatasync` takes longer, by which Redis writes its AOF */
    constructor(delay) {
        const library = join(this.#directory, 'slow-disk.so');
        execFileSync('cc', ['-shared', '-fPIC', '-o', library, join(__dirname, 'slow-disk.c')]);
        this.env = { IMQ_TEST_DISK_MS: String(delay), LD_PRELOAD: library };
    }

    close() {
        rmSync(this.#directory, { recursive: true, force: true });
    }
}

exports.SlowDisk = SlowDisk;
