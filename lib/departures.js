'use strict';

// Not the global ones, which fake timers of tests replace: what they put off would never happen.
const { clearTimeout, setTimeout } = require('node:timers');

/**
 * How long a queue may take to let go of a broker that is to be given again. One whose connection
 * hangs would take until the system gives that up, which can be a quarter of an hour.
 */
const PATIENCE_MS = 2000;

/** By endpoint: the queues that are being destroyed, each with the promise that it is. */
const departures = new Map();
const followed = new WeakSet();

/**
 * Notes when a broker's queue is being destroyed, until it is.
 *
 * All queues of `@imqueue/core` 2.x for one Redis share the connection that they write to. One that
 * is made while its predecessor is still being destroyed takes that connection over, and soon after
 * loses it for good: from then on every call of the service fails.
 *
 * @param {unknown} queue - what a cluster's `add` returned as its `imq`; nothing happens without one
 * @param {string} endpoint - of its broker
 */
function followDeparture(queue, endpoint) {
    if (typeof queue?.destroy !== 'function' || followed.has(queue)) {
        return;
    }
    followed.add(queue);

    const { destroy } = queue;
    Reflect.defineProperty(queue, 'destroy', {
        configurable: true,
        writable: true,
        value: function followedDestroy(...args) {
            const result = destroy.apply(this, args);
            note(queue, endpoint, result);
            return result;
        },
    });
}

function note(queue, endpoint, destroyed) {
    const leaving = departures.get(endpoint) ?? new Set();
    const forget = () => {
        leaving.delete(one);
        if (leaving.size === 0 && departures.get(endpoint) === leaving) {
            departures.delete(endpoint);
        }
    };
    const one = { queue, gone: Promise.resolve(destroyed).then(forget, forget) };

    departures.set(endpoint, leaving.add(one));
}

/**
 * When a broker can be given again.
 *
 * @param {string} endpoint
 * @returns {Promise<unknown> | undefined} `undefined` if it can be at once
 */
function departure(endpoint) {
    const leaving = departures.get(endpoint);

    if (leaving) {
        const timer = setTimeout(() => leaving.forEach(({ queue }) => cut(queue)), PATIENCE_MS).unref();
        return Promise.all([...leaving].map(({ gone }) => gone)).finally(() => clearTimeout(timer));
    }
}

/** What it waits for fails with its connection. */
function cut(queue) {
    try {
        queue.writer?.disconnect?.(false);
    } catch {
        // Then it goes on waiting.
    }
}

module.exports = { departure, followDeparture };
