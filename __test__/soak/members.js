'use strict';

const { join } = require('node:path');

const { Peer } = require('../../demo/support/peer.js');
const { now } = require('../../demo/support/clock.js');
const { Vitals } = require('./vitals.js');

/** By so much longer than the others, one manager waits for a silent broker. */
const PATIENCE_MS = 1500;

/**
 * Everybody who has to know the fleet: a real service and its client, which are given only brokers
 * with a Redis, and managers with stand-ins for clusters. Each has a process, or shares one.
 */
class Members {
    #directory;
    #ending = false;
    #late = 0;
    #options;
    #processes = new Map();
    #truth;
    #vitals = [];

    /**
     * @param {object} options - of the managers
     * @param {string} only - the announcement name of brokers with a Redis
     * @param {string} directory - for temporary files
     * @param {import('./truth.js').Truth} truth - is told of everything that they say
     */
    constructor(options, only, directory, truth) {
        this.#options = options;
        this.only = only;
        this.#directory = directory;
        this.#truth = truth;
    }

    async start() {
        const manager = { ...this.#options, name: this.only };

        for (const name of ['service', 'client']) {
            this.#follow(name, manager);
            await this.#launch(name, `${name}-process.js`, { manager });
            await this.ask(name, 'start');
        }
        for (const name of ['watch 1', 'watch 2']) {
            await this.#launch(name, 'watch-process.js', {});
        }
        const { aliveTimeoutCorrection } = this.#options;
        await this.#open('watch 1', 'all', {});
        await this.#open('watch 1', 'late', {});
        await this.#open('watch 2', 'no relay', { relay: false });
        await this.#open('watch 2', 'patient', {
            aliveTimeoutCorrection: aliveTimeoutCorrection + PATIENCE_MS,
        });
        await this.#open('watch 2', 'named', { name: this.only });
    }

    ask(name, command, argument) {
        return this.#processes.get(name).ask(command, argument);
    }

    /** Has each manager compared with the truth. */
    async look() {
        const peers = [...this.#processes.values()];
        const looks = await Promise.all(peers.map(peer => peer.ask('look')));

        looks.flat().forEach(({ name, ...seen }) => this.#truth.seen(name, seen));
        this.#truth.settle(now());
    }

    /** Where a stand-in for a cluster does not have what its manager has. */
    async compareClusters() {
        const watchers = ['watch 1', 'watch 2'];
        const all = await Promise.all(watchers.map(name => this.ask(name, 'compare')));

        for (const { name, odd } of all.flat().filter(({ odd: { length } }) => length > 0)) {
            this.#truth.complain(`${name}: cluster and manager differ in ${odd}`);
        }
    }

    /** One manager goes, which takes nothing along, and one comes, which has to be told of all. */
    async renew() {
        await this.ask('watch 1', 'close', this.#lateName);
        this.#late += 1;
        await this.#open('watch 1', 'late', {});
    }

    sample() {
        this.#vitals.forEach(vitals => vitals.sample());
    }

    /** What each process uses. */
    summary() {
        return this.#vitals.map(vitals => ({ name: vitals.name, ...vitals.summary() }));
    }

    /** Destroys all, after which each process has to end by itself and rightly. */
    async end() {
        this.#ending = true;
        for (const [name, peer] of this.#processes) {
            await peer.ask('destroy');
            const { code, signal } = await peer.retire();
            if (code !== 0) {
                this.#truth.complain(`${name} ended with ${signal ?? code}`);
            }
        }
        this.#noteComplaints();
    }

    close() {
        this.#ending = true;
        return Promise.all([...this.#processes.values()].map(peer => peer.close()));
    }

    get #lateName() {
        return this.#late === 0 ? 'late' : `late ${this.#late}`;
    }

    #follow(name, { aliveTimeoutCorrection: correction, name: only }) {
        this.#truth.addMember(name, { at: now(), correction, only });
    }

    async #open(process, name, more) {
        const options = { ...this.#options, ...more };
        const full = name === 'late' ? this.#lateName : name;

        this.#follow(full, options);
        await this.ask(process, 'open', { name: full, options });
    }

    async #launch(name, file, settings) {
        // Clients of @imqueue/rpc leave their process id in the directory for temporary files.
        const peer = new Peer(join(__dirname, file), settings, { TMPDIR: this.#directory });

        this.#processes.set(name, peer);
        peer.on('report', ({ name: member, ...told }) => {
            // Peers keep reports for those who ask later, which is nobody here.
            peer.reports.length = 0;
            this.#truth.told(member, told);
        });
        peer.exited.then(({ code, signal }) => {
            if (!this.#ending) {
                this.#truth.complain(`${name} ended with ${signal ?? code}: ${peer.stderr}`);
            }
        });
        this.#vitals.push(new Vitals(name, await peer.ask('pid')));
    }

    #noteComplaints() {
        for (const [name, { stderr }] of this.#processes) {
            if (stderr !== '') {
                this.#truth.complain(`${name} wrote to its standard error: ${stderr}`);
            }
        }
    }
}

module.exports = { Members, PATIENCE_MS };
