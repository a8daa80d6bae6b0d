'use strict';

const path = require('node:path');
const { fork } = require('node:child_process');
const { readFileSync, readdirSync } = require('node:fs');
const { setTimeout: sleep } = require('node:timers/promises');

const { Sender, datagram } = require('../helpers/udp.js');
const { choosePort } = require('./ports.js');
const { LONG } = require('./profiles.js');

/** Far longer than anything takes on a busy machine: only something broken takes longer. */
const PATIENCE_MS = 30_000;

/** How often it is tried whether a manager listens yet. */
const RETRY_MS = 30;

/** How often it is looked whether a process has stopped. */
const POLL_MS = 5;

/** A process with managers of one make, in lanes: each a manager, its port, and its cluster. */
class Subject {
    #child;
    #errors = '';
    #ended;
    #lanes = new Map();
    #make;
    #opened = 0;

    /** @param {'original' | 'ours'} make */
    constructor(make) {
        this.#make = make;
        this.#child = fork(path.join(__dirname, 'subject-process.js'), [make], {
            // Structured clones can hold NaN, which the original has ports of.
            serialization: 'advanced',
            execArgv: ['--no-warnings'],
            stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
        });
        this.#child.stderr.on('data', text => (this.#errors += text));
        this.#child.on('message', message => this.#lanes.get(message.lane)?.note(message));
        this.#ended = new Promise(resolve => {
            this.#child.once('close', () => {
                this.#lanes.forEach(lane => lane.fail(`${make} has died: ${this.#errors}`));
                resolve(this.#errors);
            });
        });
    }

    /** A lane whose manager listens. */
    async open(options) {
        const port = await choosePort();
        const id = this.#opened += 1;
        const lane = new Lane(this.#make, port, () => this.#child.send({ close: id }));

        this.#lanes.set(id, lane);
        this.#child.send({ open: id, options: { ...options, port } });
        await lane.listening();
        return lane;
    }

    /** Resolves when every thread of it has stopped: on a busy machine that takes a while. */
    async suspend() {
        this.#child.kill('SIGSTOP');
        while (!isStopped(this.#child.pid)) {
            await sleep(POLL_MS);
        }
    }

    resume() {
        this.#child.kill('SIGCONT');
    }

    /** Resolves with what it wrote to its standard error, once it has died by itself. */
    died() {
        return this.#ended;
    }

    /** Ends the process; nothing happens if it has ended. */
    async kill() {
        this.#child.kill('SIGKILL');
        await this.#ended;
    }
}

class Lane {
    #close;
    #closed = false;
    #failure;
    #lapses = 0;
    #make;
    #markers = 0;
    #seen = 0;
    #sender;
    #told = [];
    #waiting = new Set();

    constructor(make, port, close) {
        this.#make = make;
        this.#sender = new Sender(port);
        this.#close = close;
    }

    /** Resolves when the manager has answered for the first time. */
    async listening() {
        const timer = setInterval(() => this.#mark(1, LONG), RETRY_MS);
        try {
            this.#markers = 1;
            await this.#until(() => this.#seen >= 1, 'answer');
        } finally {
            clearInterval(timer);
        }
    }

    async send(bytes) {
        await this.#sender?.send(bytes);
    }

    /** Resolves when all that was sent so far has been dealt with. */
    async sync() {
        const number = this.#markers += 1;
        await this.#mark(number, LONG);
        await this.#until(() => this.#seen >= number, `sign of marker ${number}`);
    }

    /**
     * Resolves when a broker has expired that is heard of now and has this interval: by then all
     * that had an earlier deadline has expired too.
     */
    async lapse(interval) {
        const lapses = this.#lapses + 1;
        const number = this.#markers += 1;
        await this.#mark(number, interval);
        await this.#until(() => this.#lapses >= lapses, `end of marker ${number}`);
    }

    /** What the cluster was told since this was last asked. */
    take() {
        return this.#told.splice(0);
    }

    async close() {
        this.#close();
        await this.#until(() => this.#closed, 'close');
        this.#dispose();
    }

    note({ op, server, seen, lapsed, closed }) {
        if (op) {
            this.#told.push({ op, server });
        }
        this.#seen = Math.max(this.#seen, seen ?? 0);
        this.#lapses += lapsed ? 1 : 0;
        this.#closed ||= closed === true;
        this.#waiting.forEach(check => check());
    }

    /** The process is gone: nothing will be seen any more. */
    fail(reason) {
        this.#failure = reason;
        this.#dispose();
        this.#waiting.forEach(check => check());
    }

    #dispose() {
        this.#sender?.close();
        this.#sender = undefined;
    }

    /** Its address stays the same, so that it takes no place in the fleet from anybody. */
    #mark(number, interval) {
        const address = { host: 'marker', port: 1 };
        const marker = { name: 'marker', id: `marker-${number}`, ...address, interval };

        return this.send(datagram(marker));
    }

    #until(fulfilled, what) {
        return new Promise((resolve, reject) => {
            const end = (settle, value) => {
                clearTimeout(timer);
                this.#waiting.delete(check);
                settle(value);
            };
            const check = () => {
                if (fulfilled()) {
                    end(resolve);
                } else if (this.#failure) {
                    end(reject, new Error(this.#failure));
                }
            };
            const timer = setTimeout(
                () => end(reject, new Error(`${this.#make}: no ${what} in ${PATIENCE_MS} ms`)),
                PATIENCE_MS,
            );
            this.#waiting.add(check);
            check();
        });
    }
}

/** By what Linux says of its threads. */
function isStopped(pid) {
    const threads = readdirSync(`/proc/${pid}/task`);

    return threads.every(thread => {
        const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8');
        return stat.slice(stat.lastIndexOf(')') + 2).startsWith('T');
    });
}

exports.Subject = Subject;
