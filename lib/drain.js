'use strict';

// Not the global one, which fake timers of tests replace: what it puts off would never happen.
const { setTimeout } = require('node:timers');

const { adoptLoosePromises } = require('./loose-promises.js');

/**
 * How long a leaving broker is still read. What is in flight in it arrives within a few
 * milliseconds; an operator who lets a broker live on for half a second after its goodbye loses
 * nothing.
 */
const DRAIN_MS = 250;

/** The queues that are being drained: two managers may take the same one away. */
const draining = new WeakSet();

/** What a queue's `destroy` does that would lose messages, in the order in which to make up for it. */
const PUT_OFF = ['removeAllListeners', 'stop'];

/**
 * Lets a broker that says goodbye deliver what is in flight in it. Call it before the cluster
 * removes the broker.
 *
 * The `destroy` of a queue of `@imqueue/core` stops reading at once, and 2.x deletes the list that
 * it reads: requests and answers that were pushed a moment ago are lost, although the broker lives.
 * With this, everything else is let go of at once, nothing is sent there any more, but the reader
 * goes on for a while, and the list stays.
 *
 * @param {object} [queue] - the broker's queue, if it is known
 * @param {(error: unknown) => void} report - told what fails when the reader is stopped at last
 */
function drainQueue(queue, report) {
    if (queue?.reader?.status !== 'ready' || draining.has(queue)) {
        return;
    }
    const { reader } = queue;
    draining.add(queue);
    const methods = { clear: queue.clear };
    const due = new Set();

    for (const name of PUT_OFF) {
        methods[name] = queue[name];
        queue[name] = () => {
            due.add(name);
            return queue;
        };
    }
    queue.clear = async () => queue;

    setTimeout(() => {
        draining.delete(queue);
        Object.assign(queue, methods);
        let isCut = false;
        const reportUnlessCut = error => isCut || report(error);
        PUT_OFF.filter(name => due.has(name)).forEach(name => call(queue, name, reportUnlessCut));
        if (due.has('stop') && reader.status === 'ready' && reader.disconnect) {
            // Its QUIT waits behind its own blocking read, which would take one more message, and
            // would keep the process up as long as the broker lives. That both fail now is no news.
            isCut = true;
            queue.on?.('error', () => {});
            reader.disconnect(false);
        }
    }, DRAIN_MS).unref();
}

function call(queue, name, report) {
    try {
        adoptLoosePromises(() => { queue[name](); }, report);
    } catch (error) {
        report(error);
    }
}

exports.drainQueue = drainQueue;
