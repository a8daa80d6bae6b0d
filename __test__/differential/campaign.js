'use strict';

const { Judge } = require('./judge.js');
const { wasTooSlow } = require('./pace.js');
const { CORRECTION_MS, PROFILES, suspensionOf } = require('./profiles.js');
const { Subject } = require('./subject.js');
const { Suspension } = require('./suspension.js');
const { Trial } = require('./trial.js');

/** Each is a worker thread in the original's process; most of the time all of them wait. */
const CONCURRENCY = 40;

/** So many are suspended together: each waits for the last, and its deadlines do not. */
const GROUP = 20;

/** After so many that were too slow, each at half the pace, the machine is to be blamed aloud. */
const ATTEMPTS = 5;

/**
 * Sends random sequences to both managers and judges what their clusters were told.
 *
 * @param {import('./sequence.js').Sequence[]} sequences
 * @param {(verdict: Verdict) => void} [onVerdict] - told of each as it comes
 * @returns {Promise<Verdict[]>}
 *
 * @typedef {object} Verdict
 * @property {import('./sequence.js').Sequence} sequence
 * @property {object} observed - what the clusters were told
 * @property {string | undefined} problem - what is wrong with it
 * @property {object[]} differences - that were found and explained
 * @property {object[]} predicted - what was to be told
 * @property {number} retries - how often the machine was too slow
 */
async function runCampaign(sequences, onVerdict = () => {}) {
    const isSuspended = ({ profile }) => PROFILES[profile].suspends;
    const verdicts = [];
    const decide = (sequence, retries, observed) => {
        const verdict = { sequence, observed, retries, ...new Judge(sequence, observed).judge() };
        verdicts.push(verdict);
        onVerdict(verdict);
    };
    const pairs = new Pairs();
    const runs = [
        runUsual(sequences.filter(sequence => !isSuspended(sequence)), pairs, decide),
        runSuspended(sequences.filter(isSuspended), pairs, decide),
    ];
    try {
        await Promise.all(runs);
    } finally {
        await pairs.kill();
        await Promise.allSettled(runs);
    }
    return verdicts;
}

/** Each by itself, and as many at a time as is good. */
function runUsual(sequences, pairs, decide) {
    const queue = new Queue(sequences, decide);

    return pairs.with(async pair => {
        const work = async () => {
            for (let [job] = queue.take(1); job; [job] = queue.take(1)) {
                queue.settle(job, await new Trial(job.sequence, job.correction, pair).run());
            }
        };
        await Promise.all(Array.from({ length: CONCURRENCY }, work));
    });
}

async function runSuspended(sequences, pairs, decide) {
    const queue = new Queue(sequences, decide);

    for (let group = queue.take(GROUP); group.length > 0; group = queue.take(GROUP)) {
        await pairs.with(pair => runGroup(group, pair, queue));
    }
}

/** The slowest of the group sets the pace. */
function runGroup(group, pair, queue) {
    const correction = Math.max(...group.map(job => job.correction));
    const ms = suspensionOf(PROFILES.suspended, correction);
    const suspension = new Suspension(pair, group.length, ms);
    const suspend = meanwhile => suspension.join(meanwhile);

    return Promise.all(group.map(async job => {
        queue.settle(job, await new Trial(job.sequence, correction, pair, suspend).run());
    }));
}

/** What is still to be tried: at first, or again. */
class Queue {
    #decide;
    #jobs;

    constructor(sequences, decide) {
        const first = { retries: 0, correction: CORRECTION_MS };
        this.#jobs = sequences.map(sequence => ({ sequence, ...first }));
        this.#decide = decide;
    }

    take(count) {
        return this.#jobs.splice(0, count);
    }

    settle({ sequence, retries, correction }, observed) {
        if (!wasTooSlow(sequence, observed)) {
            this.#decide(sequence, retries, observed);
        } else if (retries + 1 < ATTEMPTS) {
            this.#jobs.push({ sequence, retries: retries + 1, correction: correction * 2 });
        } else {
            throw new Error(`the machine is too busy for sequence ${sequence.seed}`);
        }
    }
}

/** Processes that are gone when they are not used any more. */
class Pairs {
    #live = new Set();
    #over = false;

    /** Lends a process of each make. */
    async with(use) {
        if (this.#over) {
            throw new Error('the run is over');
        }
        const pair = { original: new Subject('original'), ours: new Subject('ours') };
        this.#live.add(pair);
        try {
            return await use(pair);
        } finally {
            await this.#end(pair);
        }
    }

    /** Ends all of them, by which the trials in them fail. */
    async kill() {
        this.#over = true;
        await Promise.all([...this.#live].map(pair => this.#end(pair)));
    }

    async #end(pair) {
        this.#live.delete(pair);
        await Promise.all(Object.values(pair).map(subject => subject.kill()));
    }
}

exports.runCampaign = runCampaign;
