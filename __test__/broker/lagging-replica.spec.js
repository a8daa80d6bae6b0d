'use strict';

const { Broker } = require('../helpers/broker.js');
const { Ear } = require('../helpers/ear.js');
const { monotonicNow } = require('../helpers/program.js');
const { describeServers } = require('../helpers/servers.js');
const { freePort } = require('../helpers/udp.js');

/** On a quiet machine it is 50 ms. */
const AT_ONCE_MS = 90;

/** Each wakes it up. */
const READS = 1000;

/** It tells modules of the time once a second, and not ten times: none can wait for that. */
const SELDOM = ['--hz', '1'];

// Since version 7, Redis waits for the replica before it ends, and does not say so.
describeServers('a Redis whose replica lags behind', server => {
    let broker;
    let ear;
    let replica;

    beforeEach(async () => {
        const port = await freePort();
        ear = await Ear.open(port);
        broker = await Broker.start({
            config: [...SELDOM, '--repl-diskless-sync-delay', '0'],
            env: {
                REDIS_BROADCAST_INTERVAL: '600',
                REDIS_BROADCAST_PORT: String(port),
                SELECTED_INTERFACES: '127',
            },
            server,
        });
        replica = await Broker.start({
            config: ['--replicaof', '127.0.0.1', String(broker.port)],
            module: null,
            server,
        });
        await replica.logged('Finished with success');
        await ear.up();
        process.kill(replica.pid, 'SIGSTOP');
        await broker.call('SET', 'changed', '1');
    });

    const mayNotWrite = () => broker.call('CLIENT', 'PAUSE', '60000', 'WRITE');

    afterEach(() => Promise.all([ear.close(), broker.close(), replica.close()]));

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
        const down = await ear.down();
        expect(down.at - since).toBeLessThan(AT_ONCE_MS);
        expect(ear.heard.map(({ type }) => type)).toEqual(['up', 'down', 'down', 'down']);
    });
});
