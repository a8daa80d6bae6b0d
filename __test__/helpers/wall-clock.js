'use strict';

const { execFileSync } = require('node:child_process');
const { mkdtempSync, rmSync, writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');

/**
 * A wall clock of its own for the processes that are started with its `env`. This machine's clock
 * stays as it is. Needs Linux, and the C compiler that Rust links with.
 */
class WallClock {
    #directory = mkdtempSync(join(tmpdir(), 'imqueue-udp-clock-'));
    #offset = join(this.#directory, 'offset');

    constructor() {
        const library = join(this.#directory, 'wall-clock.so');

        writeFileSync(this.#offset, Buffer.alloc(8));
        execFileSync('cc', ['-shared', '-fPIC', '-o', library, join(__dirname, 'wall-clock.c')]);
        this.env = { IMQ_TEST_CLOCK: this.#offset, LD_PRELOAD: library };
    }

    /** Sets it to so many seconds after the machine's. */
    step(seconds) {
        const bytes = Buffer.alloc(8);
        bytes.writeBigInt64LE(BigInt(seconds));
        // In place: processes have mapped it.
        writeFileSync(this.#offset, bytes, { flag: 'r+' });
    }

    close() {
        rmSync(this.#directory, { recursive: true, force: true });
    }
}

exports.WallClock = WallClock;
