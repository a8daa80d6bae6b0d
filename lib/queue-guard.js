'use strict';

const { errorMonitor } = require('node:events');

const guarded = new WeakSet();

/**
 * Keeps a broker's queue from ending the process when the broker leaves.
 *
 * A queue of `@imqueue/core` 2.x drops all of its listeners first thing in `destroy()`; the
 * blocking read that is still pending then fails, and an `error` event that nobody listens for is
 * an uncaught exception. A listener of our own would be dropped with the others, hence `emit`
 * itself is wrapped: such errors are reported instead of thrown, all else passes untouched.
 *
 * @param {unknown} queue - what a cluster's `add` returned as its `imq`; nothing happens without one
 * @param {(error: unknown) => void} report - told about each error that nobody listens for
 */
function guardQueue(queue, report) {
    if (!isEmitter(queue) || guarded.has(queue)) {
        return;
    }
    guarded.add(queue);

    const { emit } = queue;
    Reflect.defineProperty(queue, 'emit', {
        configurable: true,
        writable: true,
        value: function guardedEmit(event, ...args) {
            if (event !== 'error' || this.listenerCount('error') > 0) {
                return emit.call(this, event, ...args);
            }
            emit.call(this, errorMonitor, ...args);
            report(args[0]);
            return false;
        },
    });
}

function isEmitter(queue) {
    return typeof queue?.emit === 'function' && typeof queue.listenerCount === 'function';
}

exports.guardQueue = guardQueue;
