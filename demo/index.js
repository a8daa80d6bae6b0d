'use strict';

// A service and its client run on a fleet of real Redis brokers that changes all the time: one
// joins, one leaves, one is killed, one restarts. Ends with 0 only if no call has failed.
//
// With --modules each broker is on a host of its own, a network namespace, and announces itself by
// the module promoter.

const { setTimeout: sleep } = require('node:timers/promises');

const { DRAIN_MS, Fleet } = require('./fleet');
const { Timeline } = require('./timeline');
const { judge } = require('./verdict');
const { now } = require('./support/clock');
const { ensurePromoter } = require('./support/modules');
const { ensureRedis } = require('../scripts/setup-redis');

const RATE = 500;
const INTERVAL_MS = 1_000;
const CORRECTION_MS = 500;
const PATIENCE_MS = 3_000;
const STOPS_LATER = `its Redis stops ${DRAIN_MS} ms later`;

const WITH_MODULES = process.argv.includes('--modules');

const timeline = new Timeline();

/** What happens to the fleet, in seconds after the first call. */
const STORY = [[3, join], [6, leave], [10, crash], [15, restart]];
const END_S = 20;

/** The whole demo takes half a minute; one that hangs is ended. */
const LIMIT_MS = 120_000;
const SIGNALS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

async function run(fleet) {
    await meet(fleet);
    const death = await live(fleet);
    const failed = await conclude(fleet, death);

    return failed === 0 ? 0 : 1;
}

/** Service and client start alone; brokers come, and are found. */
async function meet(fleet) {
    await fleet.start();
    timeline.begin();
    timeline.cause(`Service and client listen on UDP port ${fleet.udpPort}, and know no broker.`);
    if (WITH_MODULES) {
        timeline.cause('Each process is on a host of its own. Brokers load dist/promoter.so.');
    }
    for (const name of ['A', 'B', 'C']) {
        await welcome(fleet, await fleet.addBroker(name), 'starts');
    }
}

/** Calls go on and on while the fleet changes. Returns how the killed broker ended. */
async function live(fleet) {
    timeline.cause(`The client calls the service ${RATE} times a second, until the end.`);
    fleet.client.on('report', report => showSecond(fleet, report));
    const start = now();
    let death;

    await fleet.client.ask('startLoad', { rate: RATE });
    for (const [second, happen] of STORY) {
        await sleep(start + second * 1000 - now());
        // Only the crash returns something.
        death = await happen(fleet) ?? death;
    }
    await sleep(start + END_S * 1000 - now());
    return death;
}

async function join(fleet) {
    await welcome(fleet, await fleet.addBroker('D'), 'starts: the fleet grows');
}

async function leave(fleet) {
    await goodbye(fleet, fleet.brokers.get('B'), `leaves: says goodbye; ${STOPS_LATER}`);
}

async function crash(fleet) {
    const broker = fleet.brokers.get('C');
    const lastHeard = await midway(broker);
    const at = await broker.crash();

    timeline.cause('C is killed by SIGKILL, with what announces it: nobody says goodbye', at);
    const removals = await fleet.reported('remove', broker, at);
    timeline.effect('C is removed', removals, at, 'its death');
    timeline.effect('', removals, lastHeard + INTERVAL_MS + CORRECTION_MS + 1, 'its deadline');
    const [client, service] = removals;
    return { broker: broker.address, at, evictedAt: { client: client.at, service: service.at } };
}

/** Waits for half an interval after an announcement; returns when that was. */
async function midway({ announcedAt }) {
    const count = Math.ceil((now() - announcedAt) / INTERVAL_MS);
    const announcement = announcedAt + count * INTERVAL_MS;

    await sleep(announcement + INTERVAL_MS / 2 - now());
    return announcement;
}

async function restart(fleet) {
    const broker = fleet.brokers.get('A');
    const id = broker.id;

    await goodbye(fleet, broker, `restarts on its port: says goodbye; ${STOPS_LATER}`);
    await broker.start();
    await broker.announce();
    await welcome(fleet, broker, `is back, ${short(id)} is now ${short(broker.id)}`);
}

/** A broker was announced: it is added everywhere. */
async function welcome(fleet, broker, text) {
    const { name, address, announcedAt, startedAt } = broker;
    // A module does not tell beforehand when it announces.
    const [at, what] = WITH_MODULES ? [startedAt, 'its start'] : [announcedAt, 'its announcement'];

    timeline.cause(`${name} ${text} (redis-server on ${address})`, at);
    const additions = await fleet.added(broker);
    timeline.effect(`${name} is added`, additions, at, what);
}

/** A broker leaves as an operator lets it: goodbye, a moment for what is in flight, stop. */
async function goodbye(fleet, broker, text) {
    await broker.sayGoodbye();
    const { name, goodbyeAt } = broker;

    timeline.cause(`${name} ${text}`, goodbyeAt);
    const removals = await fleet.removed(broker);
    timeline.effect(`${name} is removed`, removals, goodbyeAt, 'its goodbye');
    await sleep(DRAIN_MS);
    await broker.stop();
}

/** Ends the calls, the processes and the demo. Returns how many calls failed. */
async function conclude(fleet, death) {
    const { asked, answered, unanswered } = await fleet.client.ask('finishLoad', {
        patience: PATIENCE_MS,
    });
    const numbers = unanswered.map(({ number }) => number);
    const traces = await fleet.service.ask('traces', numbers);
    const { requests, answers, failed } = judge(unanswered, traces, death);

    await end(fleet);
    failed.slice(0, 10).forEach(call => timeline.note(`failed: ${JSON.stringify(call)}`));
    timeline.note(explain(asked, requests.length, answers.length, death));
    timeline.note(`${answered + failed.length} calls, ${failed.length} failed`);
    return failed.length;
}

async function end(fleet) {
    await fleet.destroy();
    const [client, service] = await fleet.dissolve();

    timeline.cause('Everything stops: service and client are destroyed, and end by themselves.');
    if (client.code !== 0 || service.code !== 0) {
        throw new Error(`client and service ended with ${client.code} and ${service.code}`);
    }
}

function explain(asked, requests, answers, { at, evictedAt }) {
    const seconds = ((Math.max(evictedAt.client, evictedAt.service) - at) / 1000).toFixed(1);

    return [
        `${requests + answers} of ${asked} calls were lost with C and are counted apart:`,
        `${requests} requests and ${answers} answers that @imqueue/core 2.x gave to it in the`,
        `${seconds} s between its death and its eviction (core 3.x skips a broker whose connection`,
        'is down).',
    ].join(' ');
}

function showSecond({ brokers }, { event, calls, ...second }) {
    if (event === 'second') {
        const shares = [...brokers.values()].map(({ name, address }) => [name, calls[address]]);

        timeline.second({ ...second, shares });
    }
}

function short(id) {
    return id.slice(0, 8);
}

async function main() {
    ensureRedis();
    const fleet = new Fleet({
        interval: INTERVAL_MS / 1000,
        aliveTimeoutCorrection: CORRECTION_MS,
        module: WITH_MODULES ? ensurePromoter() : undefined,
    });

    try {
        return await Promise.race([run(fleet), interruption()]);
    } finally {
        await fleet.close();
    }
}

/** Resolves with an exit code when somebody ends the demo, and fails when it takes too long. */
function interruption() {
    return new Promise((resolve, reject) => {
        Object.entries(SIGNALS).forEach(([signal, code]) => {
            // Also the second one of an impatient user lets the rest be cleaned up.
            process.on(signal, () => resolve(code));
        });
        setTimeout(reject, LIMIT_MS, new Error('the demo takes too long')).unref();
    });
}

main().then(
    code => process.exit(code),
    error => {
        console.error(`demo: ${error.message}`);
        process.exit(1);
    },
);
