'use strict';

const { performance } = require('node:perf_hooks');
const { setTimeout: sleep } = require('node:timers/promises');

const { PROFILES, lifetime } = require('./profiles.js');
const { isDeadly } = require('./judge.js');

/** One sequence, sent to a manager of each make. */
class Trial {
    #correction;
    #lanes;
    #opened;
    #pair;
    #profile;
    #sequence;
    #suspend;
    #times = [];

    /**
     * @param {import('./sequence.js').Sequence} sequence
     * @param {number} correction - `aliveTimeoutCorrection` in ms
     * @param {{ original: Subject, ours: Subject }} pair - the processes
     * @param {(meanwhile: () => Promise<void>) => Promise<void>} [suspend] - stops both processes
     *     for a while, and does something meanwhile; for profiles with a suspension
     */
    constructor(sequence, correction, pair, suspend) {
        this.#correction = correction;
        this.#sequence = sequence;
        this.#profile = PROFILES[sequence.profile];
        this.#pair = pair;
        this.#suspend = suspend;
    }

    /**
     * @returns {Promise<Observed>}
     *
     * @typedef {object} Observed
     * @property {object[][]} original - what the cluster of the original was told, by steps
     * @property {object[][]} ours - what ours was told
     * @property {number[]} times - how long each window took, in ms
     * @property {number} correction - `aliveTimeoutCorrection` in ms
     */
    async run() {
        const original = [];
        const ours = [];
        await this.#open();
        this.#openWindow();

        for (const { datagrams, then } of this.#sequence.steps) {
            await this.#step(datagrams, then);
            original.push(this.#lanes.original.take());
            ours.push(this.#lanes.ours.take());
        }
        await this.#both(lane => lane.close());
        return { original, ours, times: this.#times, correction: this.#correction };
    }

    async #open() {
        const { maxServers, names, useAliveCheck } = this.#profile;
        const options = { aliveTimeoutCorrection: this.#correction, useAliveCheck };
        // The marker needs a place in the fleet, and to be listened to.
        const limit = maxServers < Infinity ? { maxServers: maxServers + 1 } : {};
        const name = names ? { name: [...names, 'marker'] } : {};
        const [original, ours] = await Promise.all([
            this.#pair.original.open(options),
            this.#pair.ours.open({ ...options, ...limit, ...name }),
        ]);
        this.#lanes = { original, ours };
    }

    async #step(datagrams, then) {
        if (then === 'suspend') {
            await this.#suspend(() => {
                this.#closeWindow();
                return this.#send(datagrams);
            });
            this.#openWindow();
            // The original may see the first marker before it judges.
            await this.#both(lane => lane.sync());
        } else {
            await this.#send(datagrams);
        }
        await this.#both(lane => lane.sync());
        if (then === 'lapse') {
            this.#closeWindow();
            await this.#both(lane => this.#pass(lane));
            this.#openWindow();
        }
    }

    async #send(datagrams) {
        const { original, ours } = this.#lanes;

        for (const bytes of datagrams) {
            const receivers = isDeadly(bytes) ? [ours] : [original, ours];
            await Promise.all(receivers.map(lane => lane.send(bytes)));
        }
    }

    /** Where there are no deadlines, it is to be shown that nothing happens: only time ends it. */
    async #pass(lane) {
        if (this.#profile.useAliveCheck) {
            await lane.lapse(this.#profile.lapse);
        } else {
            await sleep(lifetime(this.#profile.lapse, this.#correction));
        }
        await lane.sync();
    }

    #openWindow() {
        this.#opened = performance.now();
    }

    #closeWindow() {
        this.#times.push(performance.now() - this.#opened);
    }

    #both(action) {
        return Promise.all(Object.values(this.#lanes).map(action));
    }
}

exports.Trial = Trial;
