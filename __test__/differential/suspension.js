'use strict';

const { setTimeout: sleep } = require('node:timers/promises');

/** Stops a pair of processes once for all trials in it, since only whole processes can be. */
class Suspension {
    #done;
    #expected;
    #meanwhile = [];
    #ms;
    #pair;
    #resolve;

    /**
     * @param {{ original: Subject, ours: Subject }} pair
     * @param {number} expected - how many trials will join
     * @param {number} ms - how long it lasts
     */
    constructor(pair, expected, ms) {
        this.#pair = pair;
        this.#expected = expected;
        this.#ms = ms;
        this.#done = new Promise(resolve => (this.#resolve = resolve));
    }

    /** Resolves when it is over; it begins when the last trial joins. */
    join(meanwhile) {
        this.#meanwhile.push(meanwhile);
        if (this.#meanwhile.length === this.#expected) {
            this.#resolve(this.#run());
        }
        return this.#done;
    }

    async #run() {
        const subjects = Object.values(this.#pair);

        await Promise.all(subjects.map(subject => subject.suspend()));
        await Promise.all([sleep(this.#ms), ...this.#meanwhile.map(act => act())]);
        subjects.forEach(subject => subject.resume());
    }
}

exports.Suspension = Suspension;
