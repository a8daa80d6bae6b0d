'use strict';

const { execFileSync } = require('node:child_process');
const { existsSync, readdirSync } = require('node:fs');

const { Program } = require('./program.js');
const { noNamespaces, unless } = require('./unless.js');

const NAMESPACES = '/run/netns';
const NAMESPACE = /^imq-(\d+)-/;

let lans = 0;

/**
 * Hosts on a bridge, each a network namespace of its own: 10.77.0.1, 10.77.0.2 and so on. Further
 * networks 1, 2 and so on have a bridge each, and the addresses 10.77.1.1, 10.77.2.1 and so on.
 *
 * Broadcasts stay within it. No host has a default route. Needs root on Linux.
 */
class Lan {
    #namespaces = [];
    #networks = new Set();
    #prefix;
    #programs = new Set();
    #switch;

    /** @param {number} hosts - how many there are on the bridge */
    constructor(hosts) {
        removeLeftovers();
        this.#prefix = `imq-${process.pid}-${lans}`;
        lans += 1;
        try {
            this.#switch = this.#addNamespace('br');
            for (let number = 1; number <= hosts; number += 1) {
                this.addHost(number);
                this.plug(number, 0);
            }
        } catch (error) {
            this.#takeAway();
            throw error;
        }
    }

    /** Adds a host that is on no network yet. */
    addHost(number) {
        const host = this.#addNamespace(`h${number}`);
        ip('-n', host, 'link', 'set', 'lo', 'up');
    }

    /** Puts a host on a network, through an interface with the network's number: `eth1`. */
    plug(number, network) {
        const host = this.#host(number);
        const device = `eth${network}`;
        const port = `v${number}-${network}`;
        const bridge = this.#bridge(network);

        ip('-n', this.#switch, 'link', 'add', port, 'type', 'veth',
            'peer', 'name', device, 'netns', host);
        ip('-n', this.#switch, 'link', 'set', port, 'master', bridge, 'up');
        ip('-n', host, 'addr', 'add', `10.77.${network}.${number}/24`, 'brd', '+', 'dev', device);
        ip('-n', host, 'link', 'set', device, 'up');
    }

    /** Takes a host's interface to a network away. */
    unplug(number, network) {
        ip('-n', this.#switch, 'link', 'del', `v${number}-${network}`);
    }

    /** Gives a host another last part of its address in a network. */
    readdress(number, network, last) {
        const [host, device] = [this.#host(number), `eth${network}`];

        ip('-n', host, 'addr', 'flush', 'dev', device);
        ip('-n', host, 'addr', 'add', `10.77.${network}.${last}/24`, 'brd', '+', 'dev', device);
    }

    /** Sets a host's interface to a network `up` or `down`. */
    setLink(number, network, state) {
        ip('-n', this.#host(number), 'link', 'set', `eth${network}`, state);
    }

    /** The routes of a host, as `ip route` prints them. */
    routes(number) {
        return ip('-n', this.#host(number), 'route');
    }

    /** The command that runs another one on a host, with its arguments. */
    within(number) {
        return ['ip', 'netns', 'exec', this.#host(number)];
    }

    /**
     * Starts a script of this folder on a host.
     *
     * @param {number} host - its number, from 1
     * @param {string} script - file name
     * @param {object} [options] - what the script gets as its only argument
     * @param {object} [how] - as `Program.start` takes it
     * @returns {Program}
     */
    run(host, script, options, how) {
        const program = Program.start(script, options, { ...how, within: this.within(host) });
        this.#programs.add(program);
        return program;
    }

    /**
     * Starts a listener on each of these hosts, and resolves with the programs once all of them
     * listen.
     */
    async listen(hosts, options, { script = 'listen-process.js', ...how } = {}) {
        const programs = hosts.map(host => this.run(host, script, options, how));
        await Promise.all(programs.map(program => program.line(
            ({ event }) => event === 'listening',
        )));
        return programs;
    }

    /** Ends all processes and takes the network away. */
    async close() {
        try {
            await Promise.all([...this.#programs].map(program => program.kill()));
        } finally {
            this.#takeAway();
        }
    }

    #bridge(network) {
        const bridge = `br${network}`;
        if (!this.#networks.has(network)) {
            ip('-n', this.#switch, 'link', 'add', bridge, 'type', 'bridge');
            ip('-n', this.#switch, 'link', 'set', bridge, 'up');
            this.#networks.add(network);
        }
        return bridge;
    }

    #host(number) {
        return `${this.#prefix}-h${number}`;
    }

    #addNamespace(suffix) {
        const name = `${this.#prefix}-${suffix}`;

        ip('netns', 'add', name);
        this.#namespaces.push(name);
        return name;
    }

    #takeAway() {
        this.#namespaces.splice(0).forEach(name => ip('netns', 'del', name));
    }
}

/** Like `describe`, for tests in a {@link Lan}: where there can be none, they are skipped. */
function describeHosts(title, body) {
    unless(noNamespaces('network'), describe)(title, body);
}

/** Takes away what a test run left behind that was killed. */
function removeLeftovers() {
    const names = existsSync(NAMESPACES) ? readdirSync(NAMESPACES) : [];
    const owned = names.map(name => [name, NAMESPACE.exec(name)?.[1]]);
    owned
        .filter(([, pid]) => pid && !existsSync(`/proc/${pid}`))
        .forEach(([name]) => ip('netns', 'del', name));
}

function ip(...args) {
    return execFileSync('ip', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}

module.exports = { Lan, describeHosts };
