'use strict';

const { EventEmitter, once } = require('node:events');
const { fork } = require('node:child_process');

const DEFAULT_TIMEOUT_MS = 10_000;
const EXIT_TIMEOUT_MS = 3_000;

/**
 * A child process that answers what it is asked and reports what happens to it; the other end is
 * `parent.js`. What it reports is kept, so that nothing is missed by who asks later.
 */
class Peer extends EventEmitter {
    #child;
    #end;
    #lastId = 0;
    #pending = new Map();

    /** What it wrote; `stdout` holds the log of @imqueue/core. */
    stdout = '';
    stderr = '';
    reports = [];

    /**
     * @param {string} file - the program
     * @param {object} settings - what it finds in its `settings`
     * @param {object} [env] - environment variables besides those of this process
     * @param {string[]} [within] - the command that runs it, with its arguments
     */
    constructor(file, settings, env = {}, within = []) {
        super();
        const [execPath, ...execArgv] = [...within, process.execPath, ...process.execArgv];

        this.#child = fork(file, [JSON.stringify(settings)], {
            execPath,
            execArgv,
            // A Ctrl-C in the terminal is for the parent alone, which then takes leave in order.
            detached: true,
            env: { ...process.env, ...env },
            stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
        });
        this.exited = ended(this.#child);
        this.exited.then(status => this.#ended(status));
        this.#child.stdout.on('data', chunk => this.#wrote('stdout', chunk));
        this.#child.stderr.on('data', chunk => this.#wrote('stderr', chunk));
        this.#child.on('message', message => this.#received(message));
        // A message to a process that is just ending; whoever waits for the answer is told so.
        this.#child.on('error', () => {});
    }

    /** Calls one of its commands. */
    ask(command, argument) {
        return new Promise((resolve, reject) => {
            if (this.#end) {
                throw this.#end;
            }
            const id = ++this.#lastId;

            this.#pending.set(id, { resolve, reject });
            this.#child.send({ id, command, argument }, error => error && reject(error));
        });
    }

    /** The first report that fits, of those it has made already and those to come. */
    reported(event, fits = () => true, timeout) {
        const find = () => this.reports.find(report => report.event === event && fits(report));

        return this.#when('report', find, `report "${event}"`, timeout);
    }

    /** Resolves once it has written something that fits to its standard output. */
    wrote(pattern, timeout) {
        return this.#when('stdout', () => this.stdout.match(pattern), `line ${pattern}`, timeout);
    }

    /** Leaves it alone, so that it ends when nothing is left for it to do; resolves when it has. */
    async retire() {
        await this.ask('retire');
        this.#child.disconnect();
        return this.exited;
    }

    /** Lets go of the process, which ends then, and resolves once it has. */
    async close() {
        if (this.#child.connected) {
            this.#child.disconnect();
        }
        const impatience = setTimeout(() => this.#child.kill('SIGKILL'), EXIT_TIMEOUT_MS);
        await this.exited;
        clearTimeout(impatience);
    }

    #when(event, find, what, timeout = DEFAULT_TIMEOUT_MS) {
        return new Promise((resolve, reject) => {
            const settle = (outcome, value) => {
                clearTimeout(timer);
                this.off(event, check).off('ended', check);
                outcome(value);
            };
            const check = () => {
                const found = find();
                if (found || this.#end) {
                    settle(found ? resolve : reject, found || this.#end);
                }
            };
            const timer = setTimeout(() => {
                settle(reject, new Error(`no ${what} within ${timeout} ms`));
            }, timeout);

            this.on(event, check).on('ended', check);
            check();
        });
    }

    #wrote(stream, chunk) {
        this[stream] += chunk;
        this.emit(stream);
    }

    #received({ report, id, result, error }) {
        if (report) {
            this.reports.push(report);
            this.emit('report', report);
            return;
        }
        const { resolve, reject } = this.#pending.get(id);

        this.#pending.delete(id);
        if (error === undefined) {
            resolve(result);
        } else {
            reject(new Error(error));
        }
    }

    #ended({ code, signal }) {
        const status = signal ?? `code ${code}`;

        this.#end = new Error(`the process ended (${status})\n${this.stderr}`);
        this.#pending.forEach(({ reject }) => reject(this.#end));
        this.#pending.clear();
        this.emit('ended');
    }
}

/** Not its `close` event, which Node.js leaves out after a `disconnect()` of the parent. */
async function ended(child) {
    const [[code, signal]] = await Promise.all([
        once(child, 'exit'),
        once(child.stdout, 'close'),
        once(child.stderr, 'close'),
    ]);
    return { code, signal };
}

exports.Peer = Peer;
