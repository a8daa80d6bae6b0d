'use strict';

const { execFile, spawn } = require('node:child_process');
const { mkdirSync } = require('node:fs');
const { join } = require('node:path');
const { promisify } = require('node:util');

const { freeTcpPort } = require('./ports');

const READY = /Ready to accept connections/;
const LOG_TIMEOUT_MS = 10_000;
const STOP_TIMEOUT_MS = 5_000;

/**
 * One redis-server process: nothing persisted, no configuration file, not daemonized, stopped by
 * its process id and never by its name.
 */
class RedisServer {
    #args;
    #child;
    #exited;
    #log = new Log();

    /**
     * @param {object} options
     * @param {string} options.dir - its working directory, made when it is missing
     * @param {string} [options.host] - the address that it listens on
     * @param {number} [options.port] - default: a free one, which it keeps when started again
     * @param {string[]} [options.args] - further arguments
     */
    constructor({ dir, host = '127.0.0.1', port, args = [] }) {
        this.dir = dir;
        this.host = host;
        this.port = port;
        this.#args = args;
    }

    /** Resolves once the server accepts connections. */
    async start() {
        mkdirSync(this.dir, { recursive: true });
        this.port ??= await freeTcpPort();
        this.#child = spawn('redis-server', this.#arguments(), {
            cwd: this.dir,
            stdio: ['ignore', 'pipe', 'pipe'],
        });
        this.#exited = new Promise(resolve => {
            this.#child.once('error', resolve).once('close', resolve);
        });
        this.#log = new Log(this.#child);
        try {
            await this.logged(READY);
        } catch (error) {
            this.kill();
            const message = `redis-server cannot be started: ${error.message}`;

            throw new Error(message, { cause: error });
        }
    }

    /** Resolves with the match of the first part of its log that fits, since it was started. */
    logged(pattern) {
        return this.#log.find(pattern);
    }

    /** Resolves with what it answers to a command, from its own host. */
    async command(...command) {
        const args = ['-e', '-s', this.#socket, ...command];
        const { stdout } = await promisify(execFile)('redis-cli', args);

        return stdout;
    }

    /** Stops the server as a service manager would; resolves once it is gone. */
    async stop() {
        const impatience = setTimeout(() => this.kill(), STOP_TIMEOUT_MS);

        this.#child.kill('SIGTERM');
        await this.#exited;
        clearTimeout(impatience);
    }

    /** Kills the server. May be called at any time, even while this process exits. */
    kill() {
        this.#child?.kill('SIGKILL');
    }

    #arguments() {
        return [
            '--port', String(this.port),
            '--bind', this.host,
            '--dir', this.dir,
            '--save', '',
            '--appendonly', 'no',
            '--daemonize', 'no',
            '--unixsocket', this.#socket,
            ...this.#args,
        ];
    }

    get #socket() {
        return join(this.dir, 'redis.sock');
    }
}

/** What a process writes. */
class Log {
    #failure;
    #text = '';
    #waiting = new Set();

    constructor(child) {
        const read = chunk => {
            this.#text += chunk;
            this.#tell();
        };

        child?.stdout.on('data', read);
        child?.stderr.on('data', read);
        child?.once('error', error => this.#end(error.message));
        child?.once('close', () => this.#end('it has ended'));
    }

    find(pattern) {
        return new Promise((resolve, reject) => {
            const settle = (outcome, value) => {
                clearTimeout(timer);
                this.#waiting.delete(check);
                outcome(value);
            };
            const fail = why => settle(reject, new Error(`${why}\n${this.#text}`));
            const check = () => {
                const match = pattern.exec(this.#text);

                if (match) {
                    settle(resolve, match);
                } else if (this.#failure) {
                    fail(this.#failure);
                }
            };
            const timer = setTimeout(fail, LOG_TIMEOUT_MS, `it does not log ${pattern}`);

            this.#waiting.add(check);
            check();
        });
    }

    #end(why) {
        this.#failure ??= why;
        this.#tell();
    }

    #tell() {
        this.#waiting.forEach(check => check());
    }
}

exports.RedisServer = RedisServer;
