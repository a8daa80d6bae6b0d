'use strict';

/** Numbers that look random and are the same for the same seed (mulberry32). */
class Random {
    #state;

    constructor(seed) {
        this.#state = seed >>> 0;
    }

    /** A number from 0 up to, but not including, 1. */
    next() {
        this.#state = this.#state + 0x6d2b79f5 >>> 0;
        let bits = Math.imul(this.#state ^ this.#state >>> 15, this.#state | 1);
        bits ^= bits + Math.imul(bits ^ bits >>> 7, bits | 61);
        return ((bits ^ bits >>> 14) >>> 0) / 2 ** 32;
    }

    /** Other numbers, which do not depend on how many of these are taken from now on. */
    fork() {
        return new Random(this.next() * 2 ** 32);
    }

    /** A number from `min` up to `max`. */
    between(min, max) {
        return min + this.next() * (max - min);
    }

    /** One of the keys of `weights`, the likelier the greater its value is. */
    choose(weights) {
        const entries = Object.entries(weights);
        const total = entries.reduce((sum, [, weight]) => sum + weight, 0);
        let rest = this.next() * total;

        for (const [key, weight] of entries) {
            rest -= weight;
            if (rest < 0) {
                return key;
            }
        }
        return entries.at(-1)[0];
    }
}

exports.Random = Random;
