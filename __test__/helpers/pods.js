'use strict';

const { execFileSync } = require('node:child_process');
const { join } = require('node:path');

const { Program, monotonicNow } = require('./program.js');

const root = join(__dirname, '..', '..');

let built;

/** The example program of crates/kubernetes, which is built if it has to be. */
function podsProgram() {
    built ??= execFileSync('cargo', [
        'build', '--locked', '-p', 'imqueue-kubernetes', '--example', 'pods',
        '--message-format', 'json',
    ], { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26, stdio: ['ignore', 'pipe', 'inherit'] })
        .trim()
        .split('\n')
        .map(line => JSON.parse(line))
        .find(({ executable, target }) => executable && target.name === 'pods')
        .executable;
    return built;
}

/** What follows the pods of a {@link KubernetesApi}, in a process of its own. */
class Follower {
    #program;

    /**
     * @param {KubernetesApi} api
     * @param {object} [options] - of the program; short times by default
     */
    static start(api, options = {}) {
        const all = {
            namespace: api.namespace,
            url: api.url,
            caFile: join(api.files, 'ca.crt'),
            tokenFile: join(api.files, 'token'),
            refresh: 500,
            timeout: 1000,
            watch: 1000,
            ...options,
        };
        return new Follower([podsProgram(), JSON.stringify(all)], process.env);
    }

    /** Starts it as in a pod: it has to find the API itself. */
    static startInPod(api, options = {}) {
        const line = api.inPod([podsProgram(), JSON.stringify(options)]);
        return new Follower(line, { ...process.env, ...api.env });
    }

    /** Starts it where there is neither a service account nor an API. */
    static startOutside() {
        return new Follower([podsProgram()], { PATH: process.env.PATH });
    }

    constructor(line, env) {
        this.#program = new Program(line, env);
    }

    get pid() {
        return this.#program.pid;
    }

    /** All addresses that were told, each time. */
    get told() {
        return this.#program.lines.filter(isChange).map(({ addresses }) => addresses);
    }

    /** All messages for an operator, each after its level. */
    get said() {
        return this.#program.lines.filter(isNotice).map(({ level, message }) => (
            `${level}: ${message}`
        ));
    }

    /** Resolves, with the time, when exactly these addresses are the last that were told. */
    async tells(addresses, deadline) {
        const wanted = JSON.stringify(addresses);
        await this.#program.line(
            line => isChange(line) && JSON.stringify(line.addresses) === wanted
                && line === this.#program.lines.findLast(isChange),
            deadline,
        );
        return monotonicNow();
    }

    /** Resolves with the first message that fits, said already or to come. */
    async says(pattern, deadline) {
        const { level, message } = await this.#program.line(
            line => isNotice(line) && pattern.test(line.message),
            deadline,
        );
        return `${level}: ${message}`;
    }

    /** Resolves once so many messages that fit were said. */
    async saysOften(count, pattern, deadline) {
        await this.#program.some(
            count,
            line => isNotice(line) && pattern.test(line.message),
            deadline,
        );
    }

    status() {
        return this.#program.ask('status');
    }

    /** Lets the library end, and begin anew in the same process. */
    again() {
        return this.#program.ask('again');
    }

    /** Lets it end, and resolves with how many ms that took the library. */
    async end() {
        const code = await this.#program.end();
        if (code !== 0) {
            throw new Error(`it ended with ${code}`);
        }
        return this.#program.lines.at(-1).took;
    }

    kill() {
        return this.#program.kill();
    }
}

const isChange = ({ event }) => event === 'changed';
const isNotice = ({ event }) => event === 'notice';

module.exports = { Follower, podsProgram };
