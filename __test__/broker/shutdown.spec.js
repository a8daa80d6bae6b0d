'use strict';

const { mkdirSync } = require('node:fs');
const { join } = require('node:path');

const { Broker, modulePath } = require('../helpers/broker.js');
const { Ear } = require('../helpers/ear.js');
const { monotonicNow } = require('../helpers/program.js');
const { nothingFor } = require('../helpers/said.js');
const { describeModules } = require('../helpers/servers.js');
const { freePort } = require('../helpers/udp.js');

/** On a quiet machine it is 50 ms. */
const AT_ONCE_MS = 90;

/** Takes a second or so. By a clock it could not: Debian's Redis has no `os`. */
const BUSY = 'for _ = 1, 2e8 do end';

describeModules('a Redis that takes its time to end', () => {
    let brokers;
    let ear;
    let env;

    beforeEach(async () => {
        const port = await freePort();
        ear = await Ear.open(port);
        brokers = [];
        env = {
            REDIS_BROADCAST_INTERVAL: '0.2',
            REDIS_BROADCAST_PORT: String(port),
            SELECTED_INTERFACES: '127',
        };
    });

    afterEach(() => Promise.all([ear.close(), ...brokers.map(broker => broker.close())]));

    async function start(options) {
        const broker = await Broker.start({ allowed: true, env, ...options });
        brokers.push(broker);
        return broker;
    }

    const at = broker => ({ address: `127.0.0.1:${broker.port}` });

    /** All that was said after the first goodbye. */
    const afterGoodbye = () => {
        const said = ear.heard.map(({ type }) => type);
        return said.slice(said.indexOf('down'));
    };

    it.each([
        ['SHUTDOWN', broker => broker.send('SHUTDOWN', 'SAVE')],
        ['SIGTERM', broker => broker.signal('SIGTERM')],
    ])('should say goodbye before a long final save upon %s, and nothing after it', async (_, end) => {
        const broker = await start({ config: ['--save', '900', '1'] });
        await broker.call('DEBUG', 'POPULATE', '1000000');
        await broker.call('SET', 'changed', '1');
        await ear.up(at(broker));
        const since = await end(broker);

        const { code } = await broker.ended;
        const down = await ear.down();
        expect(code).toBe(0);
        expect(down.at - since).toBeLessThan(AT_ONCE_MS);
        expect(down.at).toBeLessThan(await broker.halfSaved());
        expect(afterGoodbye()).toEqual(['down', 'down', 'down']);
    });

    it('should be heard while the main thread is busy', async () => {
        const broker = await start();
        await ear.up(at(broker));
        await broker.send('EVAL', BUSY, '0');
        // It has to have begun.
        await nothingFor(100);
        const since = broker.signal('SIGTERM');

        const down = await ear.down();
        expect(down.at - since).toBeLessThan(AT_ONCE_MS);
        const { at: ended } = await broker.ended;
        expect(ended - down.at).toBeGreaterThan(200);
        expect(afterGoodbye()).toEqual(['down', 'down', 'down']);
    });

    it('should come back if it could not end', async () => {
        const broker = await start({ config: ['--save', '900', '1'] });
        const { id } = await ear.up(at(broker));
        await broker.call('SET', 'changed', '1');
        mkdirSync(join(broker.dir, 'dump.rdb'));
        const since = broker.signal('SIGTERM');

        await ear.down({ id });
        await broker.logged('Errors trying to shut down');
        const up = await ear.up(at(broker), since + AT_ONCE_MS);
        expect(up.id).not.toBe(id);
        expect(up.at - since).toBeLessThan(1000);
    });

    it('should come back after a save that keeps it from answering', async () => {
        const broker = await start();
        const { id } = await ear.up(at(broker));
        await broker.call('SET', 'changed', '1');
        await broker.call('SAVE');
        const down = await ear.down({ id });
        const up = await ear.up(at(broker), down.at);
        // Whoever hears `up` of the same id within a second takes it for a late one.
        expect(up.id).not.toBe(id);
    });

    it('should say goodbye while it waits for a replica, and come back when called off', async () => {
        const master = await start();
        const replica = await start({ config: ['--replicaof', '127.0.0.1', String(master.port)] });
        await replica.logged('Finished with success');
        const { id } = await ear.up(at(master));
        process.kill(replica.pid, 'SIGSTOP');
        try {
            await master.call('SET', 'changed', '1');
            const since = await master.send('SHUTDOWN');
            const down = await ear.down({ id });
            expect(down.at - since).toBeLessThan(AT_ONCE_MS);
            // Nothing else is to be said.
            await nothingFor(500);
            expect(afterGoodbye()).toEqual(['down', 'down', 'down']);

            await master.call('SHUTDOWN', 'ABORT');
            await ear.up(at(master), monotonicNow());
        } finally {
            process.kill(replica.pid, 'SIGCONT');
        }
    });

    it('should say nothing when it is loaded while Redis waits for a replica', async () => {
        const master = await start();
        const replica = await start({
            config: ['--replicaof', '127.0.0.1', String(master.port)],
            module: null,
        });
        await replica.logged('Finished with success');
        await ear.up(at(master));
        process.kill(replica.pid, 'SIGSTOP');
        try {
            await master.call('SET', 'changed', '1');
            await master.send('SHUTDOWN');
            await ear.down();
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
        const broker = await start({ config: ['--rdb-key-save-delay', '1000'] });
        await broker.call('DEBUG', 'POPULATE', '10000');
        await ear.up(at(broker));
        await broker.call('BGSAVE');
        const info = await broker.call('INFO', 'persistence');
        expect(info).toContain('rdb_bgsave_in_progress:1');
        const [, child] = /Background saving started by pid (\d+)/.exec(
            (await broker.logged('Background saving started by pid')).text,
        );
        process.kill(Number(child), 'SIGTERM');

        await ear.up(at(broker), monotonicNow() + 400);
        expect(ear.heard.every(({ type }) => type === 'up')).toBe(true);
    });
});
