'use strict';

const { execFileSync, spawn } = require('node:child_process');
const { createInterface } = require('node:readline');
const { once } = require('node:events');
const { join } = require('node:path');

let lans = 0;

/**
 * Hosts on a bridge, each a network namespace of its own: 10.77.0.1, 10.77.0.2 and so on.
 *
 * Broadcasts stay within it. Needs root on Linux.
 */
class Lan {
    #namespaces = [];
    #processes = new Set();
    #prefix;

    static get available() {
        return process.platform === 'linux' && process.getuid() === 0;
    }

    /** @param {number} hosts - how many */
    constructor(hosts) {
        this.#prefix = `imq-${process.pid}-${lans}`;
        lans += 1;
        const bridge = this.#addNamespace('br');

        ip('-n', bridge, 'link', 'add', 'br0', 'type', 'bridge');
        ip('-n', bridge, 'link', 'set', 'br0', 'up');
        for (let number = 1; number <= hosts; number += 1) {
            this.#addHost(bridge, number);
        }
    }

    /**
     * Starts a script of this folder on a host.
     *
     * @param {number} host - its number, from 1
     * @param {string} script - file name; it prints one JSON value a line
     * @param {object} options - what the script gets as its only argument
     * @returns {Program}
     */
    run(host, script, options = {}) {
        const program = new Program('ip', [
            'netns', 'exec', this.#name(`h${host}`),
            process.execPath, join(__dirname, script), JSON.stringify(options),
        ]);
        this.#processes.add(program);
        return program;
    }

    /** Ends all processes and takes the network away. */
    async close() {
        await Promise.all([...this.#processes].map(program => program.kill()));
        this.#namespaces.reverse().forEach(name => ip('netns', 'del', name));
    }

    #addHost(bridge, number) {
        const host = this.#addNamespace(`h${number}`);
        const port = `v${number}`;

        ip('-n', bridge, 'link', 'add', port, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', host);
        ip('-n', bridge, 'link', 'set', port, 'master', 'br0', 'up');
        ip('-n', host, 'addr', 'add', `10.77.0.${number}/24`, 'brd', '+', 'dev', 'eth0');
        ip('-n', host, 'link', 'set', 'lo', 'up');
        ip('-n', host, 'link', 'set', 'eth0', 'up');
    }

    #addNamespace(suffix) {
        const name = this.#name(suffix);

        ip('netns', 'add', name);
        this.#namespaces.push(name);
        return name;
    }

    #name(suffix) {
        return `${this.#prefix}-${suffix}`;
    }
}

/** A process that prints one JSON value a line, and ends when its standard input does. */
class Program {
    #child;
    #ended;
    #lines = [];
    #waiting = new Set();

    constructor(command, args) {
        this.#child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
        this.#ended = once(this.#child, 'close');
        createInterface({ input: this.#child.stdout }).on('line', line => {
            this.#lines.push(JSON.parse(line));
            this.#waiting.forEach(check => check());
        });
    }

    /** All that was printed so far. */
    get lines() {
        return [...this.#lines];
    }

    /**
     * Resolves with the first line that fits, printed already or to come.
     *
     * @param {(line: object) => boolean} fits
     * @param {number} [deadline] - ms until it rejects
     */
    line(fits, deadline = 10_000) {
        return new Promise((resolve, reject) => {
            const check = () => {
                const found = this.#lines.find(fits);
                if (found) {
                    clearTimeout(timer);
                    this.#waiting.delete(check);
                    resolve(found);
                }
            };
            const timer = setTimeout(() => {
                this.#waiting.delete(check);
                reject(new Error(`no such line within ${deadline} ms, but ${JSON.stringify(this.#lines)}`));
            }, deadline);
            this.#waiting.add(check);
            check();
        });
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

function ip(...args) {
    execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'inherit'] });
}

exports.Lan = Lan;
