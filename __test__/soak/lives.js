'use strict';

const { once } = require('node:events');

const { now } = require('../../demo/support/clock.js');

/** How a run may end, and how likely each way is. */
const ENDS = { leave: 3, crash: 3, restart: 2, relapse: 2 };

/** So long after a host has lost its power that is known at the latest. */
const ANSWER_MS = 2000;

/**
 * Lives the lives of one broker, one after the other, until it is told to stop: it is up for a
 * while, then leaves, crashes, or does either and is soon back (`restart`, `relapse`).
 *
 * What it does and for how long is decided by `random` alone.
 */
class Lives {
    #broker;
    #deaths;
    #random;
    #signal;
    #times;
    #truth;
    counts = { join: 0, leave: 0, crash: 0, restart: 0, relapse: 0, lost: 0 };

    /**
     * @param {object} broker - a `RealBroker` or a `StandIn`
     * @param {object} world
     * @param {import('./random.js').Random} world.random
     * @param {AbortSignal} world.signal - it stops then, with the broker up or not
     * @param {object} world.times - in ms, least and most: `{ up, away, pause }`
     * @param {import('./truth.js').Truth} world.truth
     * @param {object[]} world.deaths - is added to: `{ endpoint, at, backAt }`
     */
    constructor(broker, { random, signal, times, truth, deaths }) {
        this.#broker = broker;
        this.#random = random;
        this.#signal = signal;
        this.#times = times;
        this.#truth = truth;
        this.#deaths = deaths;
    }

    /** Resolves when it has stopped; the broker does not say goodbye for that. */
    async live() {
        await this.#sleep(this.#random.between(0, this.#times.away[1]));
        while (!this.#signal.aborted) {
            const up = this.#random.between(...this.#times.up);
            const end = this.#random.choose(ENDS);
            const away = this.#random.between(
                ...this.#times[end === 'leave' || end === 'crash' ? 'away' : 'pause'],
            );
            await this.#run(up, end);
            await this.#sleep(away);
        }
    }

    async #run(up, end) {
        const run = { endpoint: this.#broker.endpoint };
        const over = new AbortController();

        // What its host loses before that is not this run.
        await this.#broker.ready();
        const lost = this.#lost(run, over.signal);

        try {
            run.id = await this.#broker.join();
            this.#done('join', run);
            const fate = await Promise.race([this.#sleep(up), lost]);
            if (fate !== 'lost' && !this.#signal.aborted) {
                await this.#end(end, run);
            }
        } catch (error) {
            // A host that loses its power does not answer any more, and says so only then.
            if (await Promise.race([lost, this.#sleep(ANSWER_MS)]) !== 'lost') {
                this.#truth.complain(`${this.#broker.endpoint}: ${error.message}`);
            }
        } finally {
            over.abort();
        }
    }

    /** Resolves with `lost` when the broker's host loses its power during the run. */
    #lost(run, signal) {
        const { host } = this.#broker;
        if (!host) {
            return new Promise(() => {});
        }
        return once(host, 'lost', { signal }).then(
            ([at]) => {
                this.counts.lost += 1;
                this.#truth.done('crash', { ...run, at });
                return 'lost';
            },
            () => {},
        );
    }

    async #end(end, run) {
        this.counts[end] += 1;
        if (end === 'leave' || end === 'restart') {
            await this.#broker.leave();
            this.#done('leave', run);
            await this.#broker.rest();
        } else {
            const death = { endpoint: run.endpoint, at: now() };
            this.#deaths.push(death);
            await this.#broker.crash();
            this.#done('crash', run);
        }
    }

    #done(what, run) {
        this.counts.join += what === 'join';
        this.#truth.done(what, { ...run, at: now() });
    }

    /** Ends early, and without an error, when it is to stop. */
    async #sleep(duration) {
        if (this.#signal.aborted) {
            return undefined;
        }
        return new Promise(resolve => {
            const wake = () => {
                clearTimeout(timer);
                this.#signal.removeEventListener('abort', wake);
                resolve();
            };
            const timer = setTimeout(wake, duration);
            this.#signal.addEventListener('abort', wake);
        });
    }
}

exports.Lives = Lives;
