'use strict';

const { modulePath, replicaOf } = require('../helpers/broker.js');
const { AT_ONCE_MS, createScene } = require('../helpers/broker-scene.js');
const { monotonicNow } = require('../helpers/program.js');
const { nothingFor } = require('../helpers/said.js');
const { describeServers } = require('../helpers/servers.js');

/** Redis looks after modules every 100 ms, and is asked what it listens on every 500 ms. */
const FOLLOWED_MS = 1000;

const OUR_THREADS = ['imq-udp-hub', 'imq-watch'];

describeServers('the module promoter', server => {
    const scene = createScene({ server });

    it('should be a module of that name without commands', async () => {
        const broker = await scene.redis({ allowed: true });
        const modules = await broker.call('MODULE', 'LIST');
        const commands = await broker.call('COMMAND', 'COUNT');
        await broker.call('MODULE', 'UNLOAD', 'promoter');

        expect(modules.map(([, name]) => name)).toContain('promoter');
        expect(await broker.call('COMMAND', 'COUNT')).toBe(commands);
    });

    it('should say what services read, byte for byte', async () => {
        const broker = await scene.redis({ env: { REDIS_BROADCAST_INTERVAL: '0.2' } });
        const { id, text } = await scene.ear.up();
        expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        expect(text).toBe(`imq-broker\t${id}\tup\t127.0.0.1:${broker.port}\t0.2\tplain`);

        await broker.send('SHUTDOWN', 'NOSAVE');
        const down = await scene.ear.down();
        expect(down.text).toBe(`imq-broker\t${id}\tdown\t127.0.0.1:${broker.port}`);
    });

    it('should take its settings from arguments, which win, and tell of nonsense', async () => {
        const broker = await scene.redis({
            args: ['interval', '0.3', 'name', 'mine', 'colour', 'red'],
            env: { REDIS_BROADCAST_INTERVAL: '7', REDIS_BROADCAST_TLS: 'perhaps' },
        });
        const up = await scene.ear.up({ address: broker.address });
        expect(up).toMatchObject({ interval: '0.3', name: 'mine' });
        await broker.logged('argument "colour" is not known, or');
        await broker.logged('REDIS_BROADCAST_TLS "perhaps" is not 1, yes');
        await broker.logged('using the port that listens, plain before TLS');
    });

    it('should announce once the data is loaded', async () => {
        const first = await scene.redis({ allowed: true, module: null });
        await first.call('DEBUG', 'POPULATE', '200000', 'key', '100');
        await first.call('SAVE');
        await first.send('SHUTDOWN', 'NOSAVE');
        await first.ended;
        const broker = await scene.redis({ dir: first.dir, wait: false });
        await broker.logged('RDB memory usage');
        // Redis obeys this while it loads, and tells modules of it; version 6.2 does not.
        await broker.call('CONFIG', 'SET', 'timeout', '0').catch(() => {});
        const { at: told } = await scene.ear.up({ address: broker.address });

        const { at: ready } = await broker.logged('Ready to accept connections');
        // A line of the log takes its time, too.
        expect(told).toBeGreaterThan(ready - 20);
        expect(told).toBeLessThan(ready + FOLLOWED_MS);
    });

    it('should be in time although Redis saves before it is ready', async () => {
        // It looks after modules once a second, and at once when it begins to serve.
        const broker = await scene.redis({ config: ['--appendonly', 'yes', '--hz', '1'] });
        const { at: ready } = await broker.logged('Ready to accept connections');
        const { at: told } = await scene.ear.up({ address: broker.address });
        expect(told - ready).toBeLessThan(500);
    });

    it('should follow the port', async () => {
        const broker = await scene.redis({ env: { REDIS_BROADCAST_INTERVAL: '600' } });
        await scene.ear.up({ address: broker.address });
        const other = broker.port === 65_535 ? 65_534 : broker.port + 1;
        const since = monotonicNow();
        await broker.call('CONFIG', 'SET', 'port', String(other));

        const down = await scene.ear.down({ address: broker.address });
        const up = await scene.ear.up({ address: `127.0.0.1:${other}` });
        expect(up.at - since).toBeLessThan(FOLLOWED_MS);
        expect(down.at).toBeLessThan(up.at);
    });

    it('should follow what Redis is bound to', async () => {
        const broker = await scene.redis({ config: ['--bind', '::1'] });
        await broker.logged('nothing is announced');
        await broker.call('CONFIG', 'SET', 'bind', '127.0.0.1');

        const { at: told } = await scene.ear.up({ address: broker.address });
        await broker.call('CONFIG', 'SET', 'bind', '::1');
        await scene.ear.down({ address: broker.address }, told);
    });

    it.each([
        ['SHUTDOWN', broker => broker.send('SHUTDOWN', 'NOSAVE')],
        ['SIGTERM', broker => broker.signal('SIGTERM')],
        ['SIGINT', broker => broker.signal('SIGINT')],
    ])('should say goodbye at once upon %s, whatever the interval', async (_, end) => {
        const broker = await scene.redis({ env: { REDIS_BROADCAST_INTERVAL: '600' } });
        const { id } = await scene.ear.up({ address: broker.address });
        const since = await end(broker);

        const { code } = await broker.ended;
        const down = await scene.ear.down({ address: broker.address, id });
        expect(code).toBe(0);
        expect(down.at - since).toBeLessThan(AT_ONCE_MS);
        expect(scene.ear.heard.slice(1).map(({ type }) => type)).toEqual(['down', 'down', 'down']);
    });

    it('should say goodbye and be gone when it is unloaded', async () => {
        const broker = await scene.redis({ allowed: true, module: null });
        for (let times = 0; times < 2; times += 1) {
            const since = monotonicNow();
            await broker.call('MODULE', 'LOAD', modulePath('promoter.so'));
            const { id } = await scene.ear.up({ address: broker.address }, since);
            expect(broker.threads).toEqual(expect.arrayContaining(OUR_THREADS));

            const unloaded = monotonicNow();
            await broker.call('MODULE', 'UNLOAD', 'promoter');
            const down = await scene.ear.down({ id });
            expect(down.at - unloaded).toBeLessThan(AT_ONCE_MS);
            expect(broker.threads.filter(name => name.startsWith('imq'))).toEqual([]);
        }
        const end = scene.ear.heard.length;
        // Nothing is to be heard.
        await nothingFor(300);
        expect(scene.ear.heard).toHaveLength(end);
    });

    it('should not leave when everything is deleted, after which Redis saves', async () => {
        const broker = await scene.redis({
            config: ['--save', '900', '1'],
            env: { REDIS_BROADCAST_INTERVAL: '0.2' },
        });
        await scene.ear.up({ address: broker.address });
        await broker.call('FLUSHALL');
        await scene.ear.up({ address: broker.address }, monotonicNow() + 500);
        expect(scene.ear.heard.every(({ type }) => type === 'up')).toBe(true);
    });

    it('should leave before what came after everything was deleted is saved', async () => {
        const broker = await scene.redis({
            allowed: true,
            config: ['--save', '900', '1'],
            env: { REDIS_BROADCAST_INTERVAL: '0.2' },
        });
        await scene.ear.up({ address: broker.address });
        await broker.call('SELECT', '1');
        // Redis gets no time to look after modules in between.
        broker.call('FLUSHALL').catch(() => {});
        broker.call('DEBUG', 'POPULATE', '1000000').catch(() => {});
        broker.call('SET', 'changed', '1').catch(() => {});
        broker.call('SHUTDOWN').catch(() => {});

        const down = await scene.ear.down({ address: broker.address });
        expect(down.at).toBeLessThan(await broker.halfSaved());
    });

    it('should say why Redis does not start when it is to load the module twice', async () => {
        const config = ['--loadmodule', modulePath('promoter.so')];
        const broker = await scene.redis({ config, wait: false });
        const { code } = await broker.ended;
        expect(code).not.toBe(0);
        expect(broker.log).toContain('promoter is not loaded: a module of that name is there');
    });

    it('should not announce a replica until it becomes the master', async () => {
        const master = await scene.redis();
        await scene.ear.up({ address: master.address });
        const replica = await scene.redis({ config: replicaOf(master) });
        await replica.logged('this Redis is a replica');
        // Nothing is to be heard.
        await nothingFor(500);
        expect(scene.ear.heard.some(({ address }) => address === replica.address)).toBe(false);

        const since = monotonicNow();
        await replica.call('REPLICAOF', 'NO', 'ONE');
        const up = await scene.ear.up({ address: replica.address });
        await master.call('REPLICAOF', '127.0.0.1', String(replica.port));
        const down = await scene.ear.down({ address: master.address });
        expect(Math.max(up.at, down.at) - since).toBeLessThan(FOLLOWED_MS);
    });

    it('should announce a replica that is told to', async () => {
        const replica = await scene.redis({
            config: ['--replicaof', '127.0.0.1', '1'],
            env: { REDIS_BROADCAST_REPLICAS: '1' },
        });
        await scene.ear.up({ address: replica.address });
    });
});
