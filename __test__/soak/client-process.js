'use strict';

// A real client of @imqueue/rpc that calls the service all the time.

const { once } = require('node:events');

const { RustUDPClusterManager } = require('../../index.js');
const { logger } = require('../../demo/support/logger.js');
const { now } = require('../../demo/support/clock.js');
const { generate } = require('../../demo/support/load.js');
const { observeQueue } = require('../../demo/support/observe.js');
const { serve, settings } = require('../../demo/support/parent.js');
const { CalculatorClient } = require('../../demo/support/calculator.js');
const { follow, look } = require('./managers.js');

/** A call without an answer is lost after this time. */
const LOST_MS = 10_000;

const manager = new RustUDPClusterManager({ ...settings.manager, logger });
const client = new CalculatorClient({ clusterManagers: [manager], logger }, 'Calculator');
const counts = { asked: 0, answered: 0, slowest: 0 };
/** Number to what is known of a call, while it is not answered. */
const open = new Map();
const wrong = [];
const load = new AbortController();

const connected = once(client.imq.clusterEmitter, 'initialized');

follow('client', manager);
observeQueue(client.imq, {
    report() {},
    sending: (broker, { args: [number] }) => {
        Object.assign(open.get(number) ?? {}, { broker, routedAt: now() });
    },
});

serve({
    pid: () => process.pid,
    start: () => client.start(),
    destroy: () => client.destroy(),
    look: () => [look('client', manager)],

    /** Calls from the first broker on; before there is any, @imqueue/core keeps each call waiting. */
    async startLoad({ rate }) {
        await connected;
        generate(rate, call, load.signal);
    },

    /** How many calls there were so far, and those that were lost, which are told of once. */
    takeCalls({ all = false } = {}) {
        const due = now() - (all ? 0 : LOST_MS);
        const lost = [...open.values()].filter(({ askedAt }) => askedAt <= due);

        lost.forEach(({ number }) => open.delete(number));
        return { ...counts, lost, wrong: wrong.splice(0) };
    },

    stopLoad() {
        load.abort();
    },
});

async function call() {
    const number = ++counts.asked;
    const record = { number, askedAt: now() };

    open.set(number, record);
    try {
        const answer = await client.double(number);
        if (answer !== 2 * number) {
            throw new Error(`wrong answer: ${answer}`);
        }
        counts.answered += 1;
        counts.slowest = Math.max(counts.slowest, now() - record.askedAt);
    } catch (error) {
        wrong.push({ ...record, error: error.message });
    }
    open.delete(number);
}
