'use strict';

const { mkdirSync } = require('node:fs');
const { join } = require('node:path');

const { modulePath, replicaOf } = require('../helpers/broker.js');
const { AT_ONCE_MS, createScene } = require('../helpers/broker-scene.js');
const { monotonicNow } = require('../helpers/program.js');
const { nothingFor } = require('../helpers/said.js');
const { describeModules } = require('../helpers/servers.js');

/** Keeps the main thread for a second, by the clock: a signal cuts short only one of the sleeps. */
const BUSY = [
    ['MULTI'],
    ['DEBUG', 'LOG', 'busy'],
    ...Array(10).fill(['DEBUG', 'SLEEP', '0.1']),
    ['DEBUG', 'LOG', 'idle'],
    ['EXEC'],
];

describeModules('a Redis that takes its time to end', () => {
    const scene = createScene({ allowed: true, env: { REDIS_BROADCAST_INTERVAL: '0.2' } });

    /** All that was said after the first goodbye. */
    const afterGoodbye = () => {
        const said = scene.ear.heard.map(({ type }) => type);
        return said.slice(said.indexOf('down'));
    };

    it.each([
        ['SHUTDOWN', broker => broker.send('SHUTDOWN', 'SAVE')],
        ['SIGTERM', broker => broker.signal('SIGTERM')],
    ])('should say goodbye before a long final save upon %s, and nothing after it', async (_, end) => {
        const broker = await scene.redis({ config: ['--save', '900', '1'] });
        await broker.call('DEBUG', 'POPULATE', '1000000');
        await broker.call('SET', 'changed', '1');
        await scene.ear.up({ address: broker.address });
        const since = await end(broker);

        const { code } = await broker.ended;
        const down = await scene.ear.down();
        expect(code).toBe(0);
        expect(down.at - since).toBeLessThan(AT_ONCE_MS);
        expect(down.at).toBeLessThan(await broker.halfSaved());
        expect(afterGoodbye()).toEqual(['down', 'down', 'down']);
    });

    it('should be heard while the main thread is busy', async () => {
        const broker = await scene.redis();
        await scene.ear.up({ address: broker.address });
        BUSY.forEach(command => broker.call(...command).catch(() => {}));
        await broker.logged('busy');
        const since = broker.signal('SIGTERM');

        const down = await scene.ear.down();
        expect(down.at - since).toBeLessThan(AT_ONCE_MS);
        const { at: idle } = await broker.logged('idle');
        expect(down.at).toBeLessThan(idle);
        await broker.ended;
        expect(afterGoodbye()).toEqual(['down', 'down', 'down']);
    });

    it('should come back if it could not end', async () => {
        const broker = await scene.redis({ config: ['--save', '900', '1'] });
        const { id } = await scene.ear.up({ address: broker.address });
        await broker.call('SET', 'changed', '1');
        mkdirSync(join(broker.dir, 'dump.rdb'));
        const since = broker.signal('SIGTERM');

        await scene.ear.down({ id });
        await broker.logged('Errors trying to shut down');
        const up = await scene.ear.up({ address: broker.address }, since + AT_ONCE_MS);
        expect(up.id).not.toBe(id);
        expect(up.at - since).toBeLessThan(1000);
    });

    it('should come back after a save that keeps it from answering', async () => {
        const broker = await scene.redis();
        const { id } = await scene.ear.up({ address: broker.address });
        await broker.call('SET', 'changed', '1');
        await broker.call('SAVE');
        const down = await scene.ear.down({ id });
        const up = await scene.ear.up({ address: broker.address }, down.at);
        // Whoever hears `up` of the same id within a second takes it for a late one.
        expect(up.id).not.toBe(id);
    });

    it('should say goodbye while it waits for a replica, and come back when called off', async () => {
        const master = await scene.redis();
        const replica = await scene.redis({ config: replicaOf(master) });
        await replica.logged('Finished with success');
        const { id } = await scene.ear.up({ address: master.address });
        process.kill(replica.pid, 'SIGSTOP');
        try {
            await master.call('SET', 'changed', '1');
            const since = await master.send('SHUTDOWN');
            const down = await scene.ear.down({ id });
            expect(down.at - since).toBeLessThan(AT_ONCE_MS);
            // Nothing else is to be said.
            await nothingFor(500);
            expect(afterGoodbye()).toEqual(['down', 'down', 'down']);

            await master.call('SHUTDOWN', 'ABORT');
            await scene.ear.up({ address: master.address }, monotonicNow());
        } finally {
            process.kill(replica.pid, 'SIGCONT');
        }
    });

    it('should say nothing when it is loaded while Redis waits for a replica', async () => {
        const master = await scene.redis();
        const replica = await scene.redis({ config: replicaOf(master), module: null });
        await replica.logged('Finished with success');
        await scene.ear.up({ address: master.address });
        process.kill(replica.pid, 'SIGSTOP');
        try {
            await master.call('SET', 'changed', '1');
            await master.send('SHUTDOWN');
            await scene.ear.down();
            // Redis gets no time to look after modules in between.
            await Promise.all([
                master.call('MODULE', 'UNLOAD', 'promoter'),
                master.call('MODULE', 'LOAD', modulePath('promoter.so')),
                master.call('CONFIG', 'SET', 'timeout', '0'),
            ]);
            // Nothing is to be said.
            await nothingFor(500);
            expect(afterGoodbye()).toEqual(['down', 'down', 'down']);
        } finally {
            process.kill(replica.pid, 'SIGCONT');
        }
    });

    it('should not take the end of a child that saves for its own', async () => {
        const broker = await scene.redis({ config: ['--rdb-key-save-delay', '1000'] });
        await broker.call('DEBUG', 'POPULATE', '10000');
        await scene.ear.up({ address: broker.address });
        await broker.call('BGSAVE');
        const info = await broker.call('INFO', 'persistence');
        expect(info).toContain('rdb_bgsave_in_progress:1');
        const [, child] = /Background saving started by pid (\d+)/.exec(
            (await broker.logged('Background saving started by pid')).text,
        );
        process.kill(Number(child), 'SIGTERM');

        await scene.ear.up({ address: broker.address }, monotonicNow() + 400);
        expect(scene.ear.heard.every(({ type }) => type === 'up')).toBe(true);
    });
});
