'use strict';

// A service and a client of @imqueue/rpc, each in a process of its own, on real Redis servers that
// come and go. Both processes have to end by themselves, with code 0 and nothing on their standard
// error, which is where an uncaught exception would show.

const { Fleet } = require('../../demo/fleet');
const { ensureRedis } = require('../../scripts/setup-redis');
const { judge } = require('../../demo/verdict');
const { now } = require('../../demo/support/clock');

const INTERVAL_MS = 200;
const CORRECTION_MS = 300;
const RATE = 300;

/** So many calls, one after the other, that each of four brokers gets some. */
const ROUND = 40;

let fleet;

beforeAll(() => ensureRedis());

afterEach(() => fleet?.close());

test('calls made before the first broker lives are answered once it does', async () => {
    await startFleet();
    const calls = Promise.all([call(1), call(1), call(1)]);

    const [broker] = await addBrokers('A');

    await expect(calls).resolves.toEqual(Array(3).fill([broker.address]));
    await expectOrderlyEnd();
});

test('calls are spread over all brokers, and over one that joins', async () => {
    await startFleet();
    const brokers = await addBrokers('A', 'B', 'C');
    expect(await usedBrokers()).toEqual(addresses(brokers));

    const [joined] = await addBrokers('D');

    expect(await usedBrokers()).toEqual(addresses([...brokers, joined]));
    await expectOrderlyEnd();
});

test('no call is lost when a broker leaves while they go on', async () => {
    await startFleet();
    const [leaving, ...staying] = await addBrokers('A', 'B', 'C', 'D');
    await fleet.client.ask('startLoad', { rate: RATE });

    await sayGoodbye(leaving);
    const { asked, answered } = await finishLoad();
    await leaving.stop();

    expect(answered).toBe(asked);
    expect(await usedBrokers()).toEqual(addresses(staying));
    await expectOrderlyEnd();
});

test('calls wait while the fleet is empty', async () => {
    await startFleet();
    const [only] = await addBrokers('A');
    await call(1);
    await sayGoodbye(only);
    await only.stop();
    const calls = Promise.all([call(1), call(1), call(1)]);

    const [next] = await addBrokers('B');

    await expect(calls).resolves.toEqual(Array(3).fill([next.address]));
    await expectOrderlyEnd();
});

test('a crashed broker goes at its deadline, with no call but those given to it', async () => {
    await startFleet();
    const [crashing, ...staying] = await addBrokers('A', 'B', 'C', 'D');
    await fleet.client.ask('startLoad', { rate: RATE });

    const at = await crashing.crash();
    const [client, service] = await fleet.reported('remove', crashing, at);
    const { failed } = await judgeLoad({
        broker: crashing.address,
        at,
        evictedAt: { client: client.at, service: service.at },
    });

    // It was last heard an interval before its death, or later. The rest is for a busy machine.
    expect(client.at - at).toBeGreaterThan(CORRECTION_MS - 50);
    expect(client.at - at).toBeLessThan(INTERVAL_MS + CORRECTION_MS + 250);
    expect(failed).toEqual([]);
    expect(await usedBrokers()).toEqual(addresses(staying));
    await expectOrderlyEnd();
});

test('a broker that restarts after a goodbye is used again', async () => {
    await startFleet();
    const brokers = await addBrokers('A', 'B', 'C', 'D');
    const [restarting] = brokers;
    await sayGoodbye(restarting);
    await restarting.stop();

    await restarting.start();
    await restarting.announce();
    await ready(restarting);

    expect(await usedBrokers()).toEqual(addresses(brokers));
    await expectOrderlyEnd();
});

test('a broker that crashes and is back before its deadline stays, and is used again', async () => {
    await startFleet({ aliveTimeoutCorrection: 10_000 });
    const brokers = await addBrokers('A', 'B', 'C', 'D');
    const [crashing] = brokers;
    const at = await crashing.crash();

    const restarted = await fleet.addBroker('A', crashing.port);

    const ids = { id: restarted.id, previousId: crashing.id };
    const updates = await fleet.reported('update', restarted);
    expect(updates).toEqual(Array(2).fill(expect.objectContaining(ids)));
    await reconnected(restarted);
    expect(await usedBrokers()).toEqual(addresses(brokers));
    expect(changesSince(at)).toEqual([]);
    // The timers by which @imqueue/core connects again outlive `destroy()`.
    await expectOrderlyEnd(5000);
});

test('after destroy() nothing is added any more', async () => {
    await startFleet();
    const [known] = await addBrokers('A');
    await call(1);

    await fleet.destroy();
    await fleet.addBroker('B');

    await expectExit();
    const changes = changesSince(0).map(({ event, broker }) => [event, broker]);
    expect(changes).toEqual(Array(2).fill(['add', known.address]));
});

test('after destroy() without brokers the processes end at once', async () => {
    await startFleet();

    await expectOrderlyEnd();
});

async function startFleet(settings) {
    fleet = new Fleet({
        interval: INTERVAL_MS / 1000,
        aliveTimeoutCorrection: CORRECTION_MS,
        ...settings,
    });
    await fleet.start();
}

async function addBrokers(...names) {
    const brokers = await Promise.all(names.map(name => fleet.addBroker(name)));

    await Promise.all(brokers.map(ready));
    return brokers;
}

/** Members are connected to the broker. One that dies earlier ends them: see @imqueue/core 2.x. */
async function ready(broker) {
    await fleet.reported('ready', broker, broker.startedAt);
}

/** The broker is gone everywhere, but its Redis runs still. */
async function sayGoodbye(broker) {
    await broker.sayGoodbye();
    await fleet.removed(broker);
}

/** @imqueue/core comes back by itself to a Redis that it has lost; it takes a second or two. */
async function reconnected({ address }) {
    const channels = fleet.members.flatMap(member => ['reader', 'writer'].map(channel => {
        const line = `${channel} channel connected, host ${address}`;

        return member.wrote(new RegExp(`${line}[^]*${line}`));
    }));

    await Promise.all(channels);
}

/** Makes calls, one after the other, and resolves with the brokers that they went by. */
function call(count) {
    return fleet.client.ask('call', count);
}

async function usedBrokers() {
    return [...new Set(await call(ROUND))].sort();
}

function addresses(brokers) {
    return brokers.map(({ address }) => address).sort();
}

function changesSince(moment) {
    return fleet.members
        .flatMap(({ reports }) => reports)
        .filter(({ event, at }) => ['add', 'remove'].includes(event) && at >= moment);
}

function finishLoad() {
    return fleet.client.ask('finishLoad', { patience: 1000 });
}

async function judgeLoad(death) {
    const { unanswered } = await finishLoad();
    const traces = await fleet.service.ask('traces', unanswered.map(({ number }) => number));

    return judge(unanswered, traces, death);
}

async function expectOrderlyEnd(limit) {
    await fleet.destroy();
    await expectExit(limit);
}

async function expectExit(limit = 1000) {
    const since = now();

    expect(await fleet.dissolve()).toEqual(Array(2).fill({ code: 0, signal: null }));
    expect(now() - since).toBeLessThan(limit);
    expect(fleet.members.map(({ stderr }) => stderr)).toEqual(['', '']);
}
