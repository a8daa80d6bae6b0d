'use strict';

// One trial: a process that measures one metric of one subject, once.

const { setTimeout: sleep } = require('node:timers/promises');

const metrics = require('./metrics');
const { Subject } = require('./subject');

const settings = JSON.parse(process.argv[2]);
const metric = metrics.find(({ name }) => name === settings.metric);

/** What a metric works with. */
const tools = {
    quick: settings.quick,
    subject: new Subject(settings),
    sleep,
    announce,
    settle,
};

// Whoever asked for it was stopped: a manager would keep the process up for good.
process.once('disconnect', () => process.exit(1));

metric.measure(tools).then(
    result => finish({ result }),
    error => finish({ error: error.stack }),
);

/** Has heartbeats sent, and resolves with how many once they are. */
function announce(brokers, rate, seconds) {
    return new Promise(resolve => {
        process.once('message', ({ sent }) => resolve(sent));
        process.send({ announce: { brokers, rate, seconds } });
    });
}

/** Waits until what has been done has no more consequences. */
async function settle(ms = 500) {
    for (let round = 0; round < 3; round += 1) {
        global.gc();
        await sleep(ms / 3);
    }
}

/** Whatever a manager still does, the process is over. */
function finish(outcome) {
    process.send(outcome, () => process.exit());
}
