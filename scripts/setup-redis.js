'use strict';

// Sees to it that there is a redis-server: installs it where that is possible without asking, and
// says what to do elsewhere. For the command line, and for other scripts.

const { existsSync, rmSync, writeFileSync } = require('node:fs');
const { spawnSync } = require('node:child_process');

/** While this exists and says so, Debian's packages do not start the services they bring. */
const POLICY = '/usr/sbin/policy-rc.d';
const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'];

/** @throws {Error} when there is none and it cannot be installed; the message says what to do */
function ensureRedis() {
    if (isInstalled()) {
        return;
    }
    if (!canInstall()) {
        throw new Error(`redis-server is missing. Install it, and try again:\n\n    ${advice()}\n`);
    }
    console.log('redis-server is missing; apt-get installs it now.');
    install();
    if (!isInstalled()) {
        throw new Error('apt-get has installed redis-server, but it cannot be started.');
    }
}

function isInstalled() {
    return spawnSync('redis-server', ['--version'], { stdio: 'ignore' }).status === 0;
}

function canInstall() {
    return existsSync('/usr/bin/apt-get') && process.getuid?.() === 0;
}

/** Only the program is wanted: its service is neither started nor enabled. */
function install() {
    const ownPolicy = !existsSync(POLICY);

    SIGNALS.forEach(signal => process.on(signal, cleanUpFirst));
    if (ownPolicy) {
        writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
    }
    try {
        run('apt-get', 'update');
        run('apt-get', 'install', '--yes', '--no-install-recommends', 'redis-server');
        spawnSync('systemctl', ['disable', 'redis-server'], { stdio: 'ignore' });
    } finally {
        if (ownPolicy) {
            rmSync(POLICY);
        }
        SIGNALS.forEach(signal => process.off(signal, cleanUpFirst));
    }
}

/** A signal ends apt-get, which is an error here, instead of this process. */
function cleanUpFirst() {}

function run(command, ...args) {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    const { error, status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', env });

    if (status !== 0) {
        const reason = error?.message ?? `${stdout}${stderr}`;
        throw new Error(`${command} ${args.join(' ')} failed:\n${reason}`);
    }
}

function advice() {
    if (existsSync('/usr/bin/apt-get')) {
        return 'sudo apt-get update && sudo apt-get install --yes redis-server';
    }
    return process.platform === 'darwin'
        ? 'brew install redis'
        : 'the package with redis-server in it, by the package manager of this system';
}

exports.ensureRedis = ensureRedis;

if (require.main === module) {
    try {
        ensureRedis();
    } catch (error) {
        console.error(error.message);
        process.exitCode = 1;
    }
}
