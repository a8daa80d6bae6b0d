'use strict';

const { execFileSync, spawn } = require('node:child_process');
const { once } = require('node:events');
const { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { createInterface } = require('node:readline');
const { Redis } = require('ioredis');

const { freeTcpPort } = require('../../demo/support/ports.js');
const { monotonicNow } = require('./program.js');

const DIST = join(__dirname, '..', '..', 'dist');

const READY = 'Ready to accept connections';

/** Since version 7, both are forbidden by default. */
const ALLOWED = ['--enable-debug-command', 'yes', '--enable-module-command', 'yes'];

/** A replica gets its data at once: by default a master waits five seconds for further ones. */
const SYNC_AT_ONCE = ['--repl-diskless-sync-delay', '0'];

/** A redis-server with a module in it, and a directory of its own. */
class Broker {
    #child;
    #clients = [];
    #ended;
    #waiting = new Set();
    /** Lines of its log, with the time. */
    lines = [];

    /**
     * Resolves once it is ready, unless it is not to be waited for.
     *
     * @param {object} [options]
     * @param {boolean} [options.allowed] - it obeys DEBUG and MODULE
     * @param {string[]} [options.args] - what follows the path of the module
     * @param {string[]} [options.config] - further arguments of the server
     * @param {string} [options.dir] - that of an earlier one
     * @param {Record<string, string>} [options.env] - of the module
     * @param {string | null} [options.module] - its file in dist/
     * @param {number} [options.port] - default: a free one
     * @param {string} [options.server] - the program
     * @param {boolean} [options.wait]
     * @param {string[]} [options.within] - the command that runs it, with its arguments
     */
    static async start({ wait = true, ...options } = {}) {
        const broker = new Broker({ ...options, port: options.port ?? await freeTcpPort() });
        if (wait) {
            await broker.logged(READY);
        }
        return broker;
    }

    constructor({
        allowed = false,
        args = [],
        config = [],
        dir = mkdtempSync(join(tmpdir(), 'imqueue-broker-')),
        env = {},
        module = 'promoter.so',
        port,
        server = 'redis-server',
        within = [],
    }) {
        this.dir = dir;
        this.port = port;
        const line = [
            ...within, server,
            '--port', String(port), '--dir', dir, '--unixsocket', this.#socket, '--save', '',
            ...SYNC_AT_ONCE,
            ...allowed && majorVersion(server) >= 7 ? ALLOWED : [],
            ...config,
            ...module ? ['--loadmodule', modulePath(module), ...args] : [],
        ];
        this.#child = spawn(line[0], line.slice(1), {
            env: { ...process.env, ...env },
            stdio: ['ignore', 'pipe', 'pipe'],
        });
        this.#ended = once(this.#child, 'close')
            .then(([code, signal]) => ({ at: monotonicNow(), code, signal }));
        for (const output of [this.#child.stdout, this.#child.stderr]) {
            createInterface({ input: output }).on('line', text => {
                this.lines.push({ at: monotonicNow(), text });
                this.#waiting.forEach(check => check());
            });
        }
    }

    get pid() {
        return this.#child.pid;
    }

    /** Where it is reached from its own host, unless it has no plain port. */
    get address() {
        return `127.0.0.1:${this.port}`;
    }

    /** How it ended: `code`, `signal`, and when. */
    get ended() {
        return this.#ended;
    }

    /** Resolves with the first line of its log that has this text in it. */
    logged(text, deadline = 20_000) {
        return new Promise((resolve, reject) => {
            const check = () => {
                const line = this.lines.find(it => it.text.includes(text));
                if (line) {
                    clearTimeout(timer);
                    this.#waiting.delete(check);
                    resolve(line);
                }
            };
            const timer = setTimeout(() => {
                this.#waiting.delete(check);
                reject(new Error(`not logged within ${deadline} ms: ${text}\n${this.log}`));
            }, deadline);
            this.#waiting.add(check);
            check();
        });
    }

    /** Resolves, once it has done its final save, with the middle of that. */
    async halfSaved() {
        const { at: begun } = await this.logged('Saving the final RDB snapshot');
        await this.ended;
        // It may have saved before.
        const { at: done } = this.lines.findLast(({ text }) => text.includes('DB saved on disk'));
        return (begun + done) / 2;
    }

    get log() {
        return this.lines.map(({ text }) => text).join('\n');
    }

    /** Resolves with what a command answers. */
    call(...command) {
        return (this.#clients[0] ?? this.#connect()).call(...command);
    }

    /**
     * Sends a command that keeps the server busy, or ends it, on a connection of its own: there is
     * no answer to wait for. Resolves with when.
     */
    async send(...command) {
        const client = this.#connect();
        await client.ping();
        const at = monotonicNow();
        client.call(...command).catch(() => {});
        return at;
    }

    /** Sends a signal. Returns when. */
    signal(name) {
        const at = monotonicNow();
        process.kill(this.pid, name);
        return at;
    }

    /** What the process holds: threads, descriptors, and resident memory in KB. */
    get vitals() {
        const status = readFileSync(`/proc/${this.pid}/status`, 'utf8');
        const count = name => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)[1]);
        return {
            descriptors: readdirSync(`/proc/${this.pid}/fd`).length,
            memory: count('VmRSS'),
            threads: count('Threads'),
        };
    }

    /** The names of its threads. */
    get threads() {
        return Object.keys(this.signalMasks);
    }

    /** The signals that each of its threads blocks, as bits, by name. */
    get signalMasks() {
        const tasks = `/proc/${this.pid}/task`;
        return Object.fromEntries(readdirSync(tasks).map(id => {
            const status = readFileSync(join(tasks, id, 'status'), 'utf8');
            const field = name => new RegExp(`^${name}:\\s+(.*)`, 'm').exec(status)[1];
            return [field('Name'), BigInt(`0x${field('SigBlk')}`)];
        }));
    }

    /** Ends it the hard way, if it has not ended. */
    async close() {
        this.#clients.forEach(client => client.disconnect());
        if (this.#child.exitCode === null && this.#child.signalCode === null) {
            this.#child.kill('SIGKILL');
        }
        await this.#ended;
        rmSync(this.dir, { recursive: true, force: true });
    }

    #connect() {
        // It is to obey while it loads, too; and another server is not to obey in its place.
        const client = new Redis({
            autoResendUnfulfilledCommands: false,
            enableReadyCheck: false,
            maxRetriesPerRequest: null,
            path: this.#socket,
        });
        this.#clients.push(client.on('error', () => {}));
        return client;
    }

    get #socket() {
        return join(this.dir, 'redis.sock');
    }
}

function majorVersion(server) {
    const text = execFileSync(server, ['--version'], { encoding: 'utf8' });
    return Number(/v=(\d+)/.exec(text)[1]);
}

/** The path of a module, which a build has made. */
function modulePath(name) {
    const path = join(DIST, name);
    if (!existsSync(path)) {
        throw new Error(`dist/${name} is missing: npm run build:broker makes it`);
    }
    return path;
}

/** The configuration of one that is a replica of another on this host. */
function replicaOf(master) {
    return ['--replicaof', '127.0.0.1', String(master.port)];
}

module.exports = { Broker, modulePath, replicaOf };
