'use strict';

const { setImmediate, setTimeout } = require('node:timers/promises');

const { now } = require('./clock');

/** So many calls a second, at even intervals, whether or not those before are answered. */
async function generate(rate, call, signal) {
    const start = now();
    let count = 0;

    while (!signal.aborted) {
        for (const due = (now() - start) * rate / 1000; count < due; count++) {
            call();
            // @imqueue/core takes the next broker only once the message before is on its way.
            await setImmediate();
        }
        await setTimeout(1);
    }
}

exports.generate = generate;
