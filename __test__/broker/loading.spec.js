'use strict';

const { replicaOf } = require('../helpers/broker.js');
const { AT_ONCE_MS, createScene } = require('../helpers/broker-scene.js');
const { monotonicNow } = require('../helpers/program.js');
const { describeModules, describeServers } = require('../helpers/servers.js');

/** Each key takes a millisecond, so that it lasts. */
const SLOW = ['--key-load-delay', '1000'];

const scene = createScene({
    allowed: true,
    env: { REDIS_BROADCAST_INTERVAL: '0.1', REDIS_BROADCAST_REPLICAS: '1' },
});

/** A master with so many keys, which is not announced. */
async function startMaster(keys, options) {
    const master = await scene.redis({ ...options, module: null });
    await master.call('DEBUG', 'POPULATE', String(keys));
    return master;
}

describeServers('a replica that is announced, and gets all data anew', server => {
    it('should leave before it deletes what it has, and come back once it is loaded', async () => {
        const master = await startMaster(1500, { server });
        const config = [...SLOW, '--replica-lazy-flush', 'no'];
        const replica = await scene.redis({ config, server });
        await replica.call('DEBUG', 'POPULATE', '500000');
        const { id } = await scene.ear.up();
        await replica.call('REPLICAOF', '127.0.0.1', String(master.port));

        const { at: flushes } = await replica.logged('Flushing old data');
        const { at: loaded } = await replica.logged('Finished with success');
        const down = await scene.ear.down();
        expect(down.at - flushes).toBeLessThan(AT_ONCE_MS);
        expect(loaded - down.at).toBeGreaterThan(1000);

        const up = await scene.ear.up({}, down.at);
        // A line of the log takes its time, too.
        expect(up.at - loaded).toBeGreaterThan(-20);
        expect(up.at - loaded).toBeLessThan(1000);
        expect(up.id).not.toBe(id);
    });
});

describeModules('a replica that loads all data beside what it has', () => {
    it('should go on being announced, since it answers', async () => {
        const master = await startMaster(1500, { config: ['--repl-backlog-size', '16384'] });
        const replica = await scene.redis({
            config: [...SLOW, ...replicaOf(master), '--repl-diskless-load', 'swapdb'],
        });
        const { at: loaded } = await replica.logged('Finished with success');
        const { at: known, id } = await scene.ear.up({}, loaded);
        // It has missed more than it can be told.
        await master.call('MULTI');
        await master.call('CLIENT', 'KILL', 'TYPE', 'replica');
        await master.call('SET', 'large', 'x'.repeat(1e6));
        await master.call('EXEC');

        await replica.logged('Swapping active DB with loaded DB');
        await scene.ear.up({ id }, monotonicNow());
        const since = scene.ear.heard.filter(({ at }) => at > known);
        expect(since.every(({ type }) => type === 'up')).toBe(true);
    });
});
