'use strict';

const { spawn } = require('node:child_process');
const { get } = require('node:http');
const { once } = require('node:events');
const { createInterface } = require('node:readline');

const { freeTcpPort } = require('../../demo/support/ports.js');
const { modulePath } = require('./broker.js');
const { monotonicNow } = require('./program.js');

/** An `imq-announcer`, which tells of itself on a port of its own. */
class Sidecar {
    #child;
    #healthPort;
    #waiting = new Set();
    /** What it has logged. */
    lines = [];

    /**
     * Resolves once it runs.
     *
     * @param {string[]} args
     * @param {object} [options]
     * @param {Record<string, string>} [options.env]
     * @param {string[]} [options.within] - the command that runs it, with its arguments
     */
    static async start(args, options) {
        const healthPort = await freeTcpPort();
        const all = ['--health-port', `127.0.0.1:${healthPort}`, ...args];
        const sidecar = new Sidecar(healthPort, all, options);
        await sidecar.logged(/started/);
        return sidecar;
    }

    constructor(healthPort, args, { env = {}, within = [] } = {}) {
        const [command, ...rest] = [...within, modulePath('imq-announcer'), ...args];
        this.#healthPort = healthPort;
        this.#child = spawn(command, rest, {
            env: { ...process.env, ...env },
            stdio: ['ignore', 'ignore', 'pipe'],
        });
        createInterface({ input: this.#child.stderr }).on('line', line => {
            this.lines.push(line);
            this.#waiting.forEach(check => check());
        });
        this.ended = once(this.#child, 'close')
            .then(([code, signal]) => ({ at: monotonicNow(), code, signal }));
    }

    get pid() {
        return this.#child.pid;
    }

    get healthPort() {
        return this.#healthPort;
    }

    /** Resolves with the first line of its log that fits. */
    logged(pattern, deadline = 10_000) {
        return new Promise((resolve, reject) => {
            const check = () => {
                const line = this.lines.find(line => pattern.test(line));
                if (line) {
                    clearTimeout(timer);
                    this.#waiting.delete(check);
                    resolve(line);
                }
            };
            const timer = setTimeout(() => {
                this.#waiting.delete(check);
                const log = this.lines.join('\n');
                reject(new Error(`not logged within ${deadline} ms: ${pattern}\n${log}`));
            }, deadline);
            this.#waiting.add(check);
            check();
        });
    }

    /** What it answers to a request: `{ status, body }`. */
    async ask(path) {
        const request = get({ host: '127.0.0.1', port: this.#healthPort, path, agent: false });
        const [response] = await once(request, 'response');
        let body = '';
        for await (const chunk of response.setEncoding('utf8')) {
            body += chunk;
        }
        return { status: response.statusCode, body };
    }

    /** The value of one of its metrics, undefined where there is none. */
    async metric(name) {
        const { body } = await this.ask('/metrics');
        const line = body.split('\n').find(line => line.startsWith(`imq_announcer_${name} `));
        return line && Number(line.split(' ').at(-1));
    }

    /** Sends a signal. Returns when. */
    signal(name) {
        const at = monotonicNow();
        this.#child.kill(name);
        return at;
    }

    /** Ends it the hard way, if it has not ended. */
    async close() {
        if (this.#child.exitCode === null && this.#child.signalCode === null) {
            this.#child.kill('SIGKILL');
        }
        await this.ended;
    }
}

module.exports = { Sidecar };
