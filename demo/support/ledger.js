'use strict';

const { now } = require('./clock');

/** Answers take some milliseconds; one that is not there by now rarely comes. */
const ANSWER_DUE_MS = 500;

/** What became of each call: by which broker it was asked, and whether it was answered. */
class Ledger {
    #answered = 0;
    #asked = 0;
    #failed = [];
    #open = new Map();
    #second = emptySecond();
    #settled = () => {};

    /**
     * Makes one call and follows it.
     *
     * @param {(number: number) => Promise<number>} double - the call
     * @returns {Promise<object>} its record, once it is rightly answered
     */
    async call(double) {
        const number = ++this.#asked;
        const record = { number, askedAt: now() };

        this.#open.set(number, record);
        try {
            const answer = await double(number);
            if (answer !== 2 * number) {
                throw new Error(`wrong answer: ${answer}`);
            }
            this.#answered++;
            this.#second.slowest = Math.max(this.#second.slowest, now() - record.askedAt);
            return record;
        } catch (error) {
            this.#failed.push({ ...record, error: error.message });
            this.#second.refused++;
            throw error;
        } finally {
            this.#open.delete(number);
            if (this.#open.size === 0) {
                this.#settled();
            }
        }
    }

    /** Notes that a call is being sent by a broker. */
    route(number, broker) {
        const { calls } = this.#second;

        calls[broker] = (calls[broker] ?? 0) + 1;
        Object.assign(this.#open.get(number) ?? {}, { broker, routedAt: now() });
    }

    /** What happened since the last time. A call without an answer is counted once, when due. */
    takeSecond() {
        const due = now() - ANSWER_DUE_MS;
        const open = [...this.#open.values()].filter(call => !call.overdue && call.askedAt < due);
        const second = { ...this.#second, overdue: open.length };

        open.forEach(call => { call.overdue = true; });
        this.#second = emptySecond();
        return second;
    }

    /** Resolves once every call is answered or refused. */
    async settled() {
        if (this.#open.size > 0) {
            await new Promise(resolve => { this.#settled = resolve; });
        }
    }

    result() {
        return {
            asked: this.#asked,
            answered: this.#answered,
            unanswered: [...this.#failed, ...this.#open.values()],
        };
    }
}

function emptySecond() {
    return { calls: {}, refused: 0, slowest: 0 };
}

exports.Ledger = Ledger;
