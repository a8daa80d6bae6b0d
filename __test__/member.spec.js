'use strict';

jest.mock('node:timers', () => require('./helpers/global-timers.js'));

const { createHarness } = require('./helpers/harness.js');
const { Random } = require('./differential/random.js');

const STORIES = 400;
const STEPS = 10;
const IDS = ['a', 'b', 'c'];
const PORTS = [1, 2, 3];

const byId = (one, other) => one.id === other.id;
const asCore = (one, other) => byId(one, other) || one.port === other.port;

/** Whatever brokers do, and however long the cluster takes, it has what is there in the end. */
describe.each([
    ['that finds brokers by id or address, at once', asCore, 0],
    ['that finds brokers by id or address, and takes its time', asCore, 60],
    ['that finds brokers by id, and takes its time', byId, 60],
])('a cluster %s', (_, matches, delay) => {
    beforeEach(() => jest.useFakeTimers());

    afterEach(() => jest.useRealTimers());

    it('should end with the brokers that there are', async () => {
        for (let seed = 1; seed <= STORIES; seed += 1) {
            await tell(seed, matches, delay);
        }
    }, 120_000);
});

async function tell(seed, matches, delay) {
    const random = new Random(`member ${seed}`);
    const harness = createHarness();
    const manager = harness.createManager();
    const cluster = createCluster(matches, () => random.between(0, delay));
    const known = new Map();
    const story = [];

    manager.init(cluster);
    for (let step = 0; step < STEPS; step += 1) {
        story.push(happen(known, random, harness.listener));
        if (random.chance(0.5)) {
            harness.listener.wake();
            await jest.advanceTimersByTimeAsync(random.between(0, delay));
        }
    }
    harness.listener.wake();
    // Several reviews, each of which may free an id that the next one needs.
    await jest.advanceTimersByTimeAsync(20_000);

    const ports = cluster.records.map(({ port }) => port).sort();
    const there = [...known.keys()].sort();
    // Of an id that has taken over a second address, only one is given.
    const isEachOnce = new Set(known.values()).size === known.size;
    const right = isEachOnce ? there : there.filter(port => ports.includes(port));
    expect({ seed, story, ports }).toEqual({ seed, story, ports: right });
    await manager.destroy();
}

/** What the fleet tells next, by its rules: an id is added at one address at a time. */
function happen(known, random, listener) {
    const [id, port] = [random.pick(IDS), random.pick(PORTS)];
    const server = { id, name: 'imq', host: 'redis', port, timeout: 1000 };
    const owner = known.get(port);

    if (owner === undefined) {
        if ([...known.values()].includes(id)) {
            return 'nothing';
        }
        known.set(port, id);
        listener.adds(server);
        return `${id} comes to ${port}`;
    }
    if (owner === id) {
        known.delete(port);
        listener.hears('remove', server, random.pick(['down', 'expired']));
        return `${id} leaves ${port}`;
    }
    known.set(port, id);
    listener.hears('update', server, owner);
    return `${id} takes ${port} over`;
}

/** A cluster that answers after some ms, or at once where that is 0. */
function createCluster(matches, takes) {
    const cluster = { records: [] };
    const find = server => cluster.records.find(record => matches(record, server));
    const add = server => {
        if (!find(server)) {
            cluster.records.push(server);
        }
    };
    const remove = server => {
        cluster.records = cluster.records.filter(record => !matches(record, server));
    };
    const later = act => server => {
        const ms = takes();
        return ms === 0 ? act(server) : new Promise(resolve => {
            setTimeout(() => resolve(act(server)), ms);
        });
    };
    return Object.assign(cluster, { add: later(add), find, remove: later(remove) });
}
