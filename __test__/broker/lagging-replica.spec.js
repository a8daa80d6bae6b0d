'use strict';

const { replicaOf } = require('../helpers/broker.js');
const { AT_ONCE_MS, createScene } = require('../helpers/broker-scene.js');
const { monotonicNow } = require('../helpers/program.js');
const { describeServers } = require('../helpers/servers.js');

/** Each wakes it up. */
const READS = 1000;

/** It tells modules of the time once a second, and not ten times: none can wait for that. */
const SELDOM = ['--hz', '1'];

// Since version 7, Redis waits for the replica before it ends, and does not say so.
describeServers('a Redis whose replica lags behind', server => {
    const scene = createScene({ env: { REDIS_BROADCAST_INTERVAL: '600' }, server });
    let broker;

    beforeEach(async () => {
        broker = await scene.redis({ config: SELDOM });
        const replica = await scene.redis({ config: replicaOf(broker), module: null });
        await replica.logged('Finished with success');
        await scene.ear.up();
        process.kill(replica.pid, 'SIGSTOP');
        await broker.call('SET', 'changed', '1');
    });

    const mayNotWrite = () => broker.call('CLIENT', 'PAUSE', '60000', 'WRITE');

    it.each([
        ['at any time', async () => {}],
        ['while clients may not write', mayNotWrite],
        ['while clients may not write, but read all the time', async () => {
            await mayNotWrite();
            for (let count = 0; count < READS; count += 1) {
                await broker.call('GET', 'changed');
            }
        }],
    ])('should say goodbye at once upon SHUTDOWN, %s', async (_, before) => {
        await before();
        // On the connection that was used before, so that Redis gets no rest in between.
        const since = monotonicNow();
        broker.call('SHUTDOWN').catch(() => {});
        const down = await scene.ear.down();
        expect(down.at - since).toBeLessThan(AT_ONCE_MS);
        expect(scene.ear.heard.map(({ type }) => type)).toEqual(['up', 'down', 'down', 'down']);
    });
});
