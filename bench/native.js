'use strict';

// What the bench needs of cargo: the program that sends, and the benchmarks of the crates.

const { execFileSync } = require('node:child_process');
const { readFileSync } = require('node:fs');
const { join, resolve } = require('node:path');

const ROOT = join(__dirname, '..');
const TARGET = resolve(ROOT, process.env.CARGO_TARGET_DIR ?? 'target');

/** Benchmarks of the crates, by the metrics that run them. */
const BENCHMARKS = {
    core: ['imqueue-udp-core', 'fleet'],
    floor: ['imqueue-udp-net', 'floor'],
    latency: ['imqueue-udp-net', 'floor'],
};

/** Builds what the metrics need, so that no trial has to. */
function prepare(progress, metrics) {
    progress.show('building the sender and the benchmarks of the crates');
    cargo('build', '--release', '-p', 'imqueue-udp-net', '--example', 'fleet');
    for (const { name } of metrics.filter(({ name }) => Object.hasOwn(BENCHMARKS, name))) {
        const [crate, benchmark] = BENCHMARKS[name];
        cargo('bench', '-p', crate, '--bench', benchmark, '--no-run');
    }
}

/** Where the program is that plays a fleet. */
function senderProgram() {
    return join(TARGET, 'release', 'examples', 'fleet');
}

/** Runs a benchmark of a crate and returns what it printed. */
function runBenchmark(crate, name, ...args) {
    return cargo('bench', '-p', crate, '--bench', name, '--', ...args);
}

/** The median, in nanoseconds, that criterion found in its last run of a benchmark. */
function readEstimate(id) {
    const file = join(TARGET, 'criterion', ...id.split('/'), 'new', 'estimates.json');

    return JSON.parse(readFileSync(file, 'utf8')).median.point_estimate;
}

function cargo(command, ...args) {
    return execFileSync('cargo', [command, '--locked', '--quiet', ...args], {
        cwd: ROOT,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
    });
}

module.exports = { prepare, readEstimate, runBenchmark, senderProgram };
