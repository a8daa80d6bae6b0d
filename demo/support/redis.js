'use strict';

const { spawn } = require('node:child_process');
const { mkdirSync } = require('node:fs');

const { freeTcpPort } = require('./ports');

const READY = 'Ready to accept connections';
const READY_TIMEOUT_MS = 10_000;
const STOP_TIMEOUT_MS = 5_000;

/**
 * One redis-server process on the loopback interface: nothing persisted, no configuration file,
 * not daemonized, stopped by its process id and never by its name.
 */
class RedisServer {
    #child;
    #exited;

    /**
     * @param {object} options
     * @param {string} options.dir - its working directory, made when it is missing
     * @param {number} [options.port] - default: a free one, which it keeps when started again
     */
    constructor({ dir, port }) {
        this.dir = dir;
        this.host = '127.0.0.1';
        this.port = port;
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
        await ready(this.#child);
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
        ];
    }
}

async function ready(child) {
    let output = '';
    const late = setTimeout(() => child.kill('SIGKILL'), READY_TIMEOUT_MS);

    try {
        await new Promise((resolve, reject) => {
            const read = chunk => {
                output += chunk;
                if (output.includes(READY)) {
                    resolve();
                }
            };
            child.stdout.on('data', read);
            child.stderr.on('data', read);
            child.once('error', reject);
            child.once('close', () => reject(new Error(`it ended before it was ready\n${output}`)));
        });
    } catch (error) {
        throw new Error(`redis-server cannot be started: ${error.message}`, { cause: error });
    } finally {
        clearTimeout(late);
    }
}

exports.RedisServer = RedisServer;
