'use strict';

const { createHash } = require('node:crypto');

/** Random choices that come out the same for the same seed (the generator is mulberry32). */
class Random {
    #state;

    /** @param {string} seed - any text */
    constructor(seed) {
        this.#state = createHash('sha256').update(seed).digest().readUInt32LE();
    }

    /** A number from 0 to just below 1. */
    next() {
        this.#state = (this.#state + 0x6d2b79f5) | 0;
        let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
        mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
        return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    }

    chance(probability) {
        return this.next() < probability;
    }

    /** An integer; both ends are included. */
    between(low, high) {
        return low + Math.floor(this.next() * (high - low + 1));
    }

    pick(values) {
        return values[this.between(0, values.length - 1)];
    }

    /** One of the keys, each as often as its weight says. */
    weighted(weights) {
        const entries = Object.entries(weights);
        const total = entries.reduce((sum, [, weight]) => sum + weight, 0);
        let rest = this.next() * total;
        const [key] = entries.find(([, weight]) => (rest -= weight) < 0) ?? entries[0];
        return key;
    }

    bytes(length) {
        return Buffer.from(Array.from({ length }, () => this.between(0, 255)));
    }

    /** The values in another order. */
    shuffled(values) {
        const ranked = values.map(value => ({ value, rank: this.next() }));
        return ranked.sort((a, b) => a.rank - b.rank).map(({ value }) => value);
    }
}

exports.Random = Random;
