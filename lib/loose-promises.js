'use strict';

const { promiseHooks } = require('node:v8');

/**
 * Calls a cluster's callback, and keeps the promises that it leaves behind from ending the process.
 *
 * A queue of `@imqueue/core` 2.x connects to its broker in the background. When the broker cannot be
 * reached, or goes meanwhile, that fails in a promise which nobody looks at: an unhandled rejection,
 * by which a single announcement of a dead address would end the service. The callback offers no way
 * to get at that promise, hence those that are made during the call are noted.
 *
 * @template T
 * @param {() => T} callback - called once; what it returns or throws is passed on
 * @param {(error: unknown) => void} report - told once about each error that such a promise is
 *     rejected with, also where somebody else handles it too. A callback that returns a promise
 *     speaks for itself: what it leaves behind is kept quiet.
 * @returns {T}
 */
function adoptLoosePromises(callback, report) {
    const promises = [];
    const stopNoting = promiseHooks.onInit(promise => promises.push(promise));
    let result;

    try {
        result = callback();
        return result;
    } finally {
        stopNoting();
        adopt(promises, isPromise(result) ? () => {} : report);
    }
}

/** An error passes through many promises on its way out; one report of it is enough. */
function adopt(promises, report) {
    if (promises.length === 0) {
        return;
    }
    const reported = new Set();
    const onRejected = error => {
        if (!reported.has(error)) {
            reported.add(error);
            report(error);
        }
    };
    // Not their own `then`, which may do anything: start what was to be started when it is awaited.
    promises.forEach(promise => Promise.prototype.then.call(promise, undefined, onRejected));
}

function isPromise(value) {
    return typeof value?.then === 'function';
}

module.exports = { adoptLoosePromises, isPromise };
