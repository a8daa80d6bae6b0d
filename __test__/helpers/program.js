'use strict';

const { spawn } = require('node:child_process');
const { createInterface } = require('node:readline');
const { once } = require('node:events');
const { join } = require('node:path');

/**
 * A process that prints one JSON value a line, and ends when its standard input does: also when
 * whoever started it is gone.
 */
class Program {
    #child;
    #ended;
    #lines = [];
    #outcome = null;
    #waiting = new Set();

    /**
     * Starts a script of this folder.
     *
     * @param {string} script - file name
     * @param {object} [options] - what the script gets as its only argument
     * @param {object} [how]
     * @param {string} [how.node] - the Node.js to run it with
     * @param {string[]} [how.within] - the command that runs it, with its arguments
     * @param {Record<string, string>} [how.env] - added to the environment
     */
    static start(script, options = {}, { node = process.execPath, within = [], env = {} } = {}) {
        const line = [...within, node, join(__dirname, script), JSON.stringify(options)];
        return new Program(line, { ...process.env, ...env });
    }

    /**
     * @param {string[]} line - the command with its arguments
     * @param {Record<string, string>} env
     */
    constructor([command, ...args], env) {
        this.#child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
        this.#ended = once(this.#child, 'close');
        this.#child.once('close', (code, signal) => {
            this.#outcome = signal ?? `code ${code}`;
            this.#waiting.forEach(check => check());
        });
        // A process that was killed reads no more questions.
        this.#child.stdin.on('error', () => {});
        createInterface({ input: this.#child.stdout }).on('line', line => {
            this.#lines.push(JSON.parse(line));
            this.#waiting.forEach(check => check());
        });
    }

    get pid() {
        return this.#child.pid;
    }

    /** All that was printed so far. */
    get lines() {
        return [...this.#lines];
    }

    /**
     * Resolves with the first line that fits, printed already or to come. Rejects when the program
     * ends without it.
     *
     * @param {(line: object) => boolean} fits
     * @param {number} [deadline] - ms until it rejects
     */
    async line(fits, deadline) {
        const [line] = await this.some(1, fits, deadline);
        return line;
    }

    /** Resolves with all lines that fit, once there are so many of them. */
    some(count, fits, deadline = 10_000) {
        return new Promise((resolve, reject) => {
            const settle = act => {
                clearTimeout(timer);
                this.#waiting.delete(check);
                act();
            };
            const fail = why => settle(() => {
                const printed = JSON.stringify(this.#lines.slice(-20));
                reject(new Error(`no such line ${why}; the last ones: ${printed}`));
            });
            const check = () => {
                const found = this.#lines.filter(fits);
                if (found.length >= count) {
                    settle(() => resolve(found));
                } else if (this.#outcome !== null) {
                    fail(`before it ended with ${this.#outcome}`);
                }
            };
            const timer = setTimeout(() => fail(`within ${deadline} ms`), deadline);
            this.#waiting.add(check);
            check();
        });
    }

    /** Writes a line to it, and resolves with the next line that is an answer. */
    async ask(question, deadline) {
        const isAnswer = ({ event }) => event === 'answer';
        const answered = this.#lines.filter(isAnswer).length;

        this.#child.stdin.write(`${question}\n`);
        const answers = await this.some(answered + 1, isAnswer, deadline);
        return answers[answered];
    }

    signal(name) {
        this.#child.kill(name);
    }

    /** Lets it end by itself, and resolves with its exit code. */
    async end() {
        this.#child.stdin.end();
        const [code] = await this.#ended;
        return code;
    }

    /** Ends it the hard way; nothing happens if it has ended. */
    async kill() {
        if (this.#child.exitCode === null) {
            this.#child.kill('SIGKILL');
        }
        await this.#ended;
    }
}

/** Now, in ms, on the clock by which programs tell when (`at`) they printed a line. */
function monotonicNow() {
    return Number(process.hrtime.bigint()) / 1e6;
}

/** Resolves once `condition` holds. */
async function until(condition, deadline = 10_000) {
    const end = monotonicNow() + deadline;
    while (!condition()) {
        if (monotonicNow() > end) {
            throw new Error(`not within ${deadline} ms: ${condition}`);
        }
        await new Promise(resolve => setTimeout(resolve, 5));
    }
}

module.exports = { Program, monotonicNow, until };
