'use strict';

const { modulePath } = require('../helpers/broker.js');
const { AT_ONCE_MS, createScene } = require('../helpers/broker-scene.js');
const { Ear } = require('../helpers/ear.js');
const { createScene: createHostsScene } = require('../helpers/hosts-scene.js');
const { KubernetesApi } = require('../helpers/kubernetes-api.js');
const { describeHosts } = require('../helpers/lan.js');
const { monotonicNow } = require('../helpers/program.js');
const { isAdd, isRemove, outcome } = require('../helpers/said.js');
const { describeServersInPods } = require('../helpers/servers.js');

const MODULE = { allowed: true, module: 'unicaster.so' };
const PODS = ['127.0.0.2', '127.0.0.3'];

/** Two hundred, where nothing else runs. */
const JOINED_MS = 400;

describeServersInPods('the module unicaster', server => {
    const scene = createScene({ ...MODULE, env: { REDIS_BROADCAST_INTERVAL: '0.2' }, server });
    let api;
    let broker;
    let ears;

    const listen = async address => scene.keep(await Ear.open(scene.port, { address }));

    beforeEach(async () => {
        api = scene.keep(await KubernetesApi.start());
        ears = await Promise.all(PODS.map(listen));
    });

    async function start({ env, ...options } = {}) {
        broker = await scene.redis({
            env: { ...api.env, ...env }, within: api.inPod([]), ...options,
        });
    }

    it('should tell the pods, byte for byte, and say goodbye to each', async () => {
        PODS.forEach((ip, number) => api.setPod(`web-${number}`, { ip }));
        await start();
        const { id } = await ears[0].up();
        const up = `imq-broker\t${id}\tup\t127.0.0.1:${broker.port}\t0.2\tplain`;
        expect((await ears[1].up()).text).toBe(up);

        const since = broker.signal('SIGTERM');
        const { code } = await broker.ended;
        for (const ear of ears) {
            const down = await ear.down();
            expect(down.text).toBe(`imq-broker\t${id}\tdown\t127.0.0.1:${broker.port}`);
            expect(down.at - since).toBeLessThan(AT_ONCE_MS);
            expect(ear.heard.slice(-3).map(({ type }) => type)).toEqual(['down', 'down', 'down']);
        }
        expect(code).toBe(0);
    });

    it('should tell a new pod at once, and one that is gone no more', async () => {
        api.setPod('web-0', { ip: PODS[0] });
        await start({ env: { REDIS_BROADCAST_INTERVAL: '600' } });
        await ears[0].up({ address: broker.address });

        const since = monotonicNow();
        api.setPod('web-1', { ip: PODS[1] });
        const { at: told } = await ears[1].up({ address: broker.address });
        expect(told - since).toBeLessThan(JOINED_MS);

        api.removePod('web-1');
        // It has noticed once it tells a later one.
        const later = await listen('127.0.0.4');
        api.setPod('web-2', { ip: '127.0.0.4' });
        await later.up({ address: broker.address });
        await broker.send('SHUTDOWN', 'NOSAVE');
        await ears[0].down({ address: broker.address });
        await broker.ended;
        expect(ears[1].heard.map(({ type }) => type)).toEqual(['up']);
    });

    it('should say goodbye to the last of ten thousand pods before Redis ends', async () => {
        const many = Array.from({ length: 10_000 }, (_, number) => `127.1.${number >> 8}.${number & 255}`);
        many.forEach((ip, number) => api.setPod(`many-${number}`, { ip }));
        ears.push(await listen(many.at(-1)));
        await start({ env: { REDIS_BROADCAST_INTERVAL: '600' } });
        await ears.at(-1).up({ address: broker.address });
        const since = await broker.send('SHUTDOWN', 'NOSAVE');
        await ears.at(-1).goodbye({ address: broker.address });
        await broker.ended;
        // Redis waits until all have heard it once, but not for saying it again.
        const again = ears.at(-1).heard.filter(({ type }) => type === 'down').slice(1);
        again.forEach(down => expect(down.at - since).toBeLessThan(AT_ONCE_MS));
    });

    it('should go on telling the pods that it knows while the API is away', async () => {
        api.setPod('web-0', { ip: PODS[0] });
        await start();
        await ears[0].up({ address: broker.address });
        await api.goAway();
        await ears[0].up({ address: broker.address }, monotonicNow() + 1000);
        await api.comeBack();
        expect(ears[0].heard.every(({ type }) => type === 'up')).toBe(true);
    });

    it('should say in the log of Redis which permission is missing', async () => {
        api.forbid('all');
        await start();
        const { text } = await broker.logged('cannot list');
        expect(text).toContain('<unicaster>');
        expect(text).toContain('prod');
    });

    it('should tell of a namespace that is none, and use its own', async () => {
        api.setPod('web-0', { ip: PODS[0] });
        await start({ env: { DEPLOYMENT_ENV: 'Not/One' } });
        await broker.logged('DEPLOYMENT_ENV "Not/One" is not the name of a Kubernetes namespace');
        await ears[0].up({ address: broker.address });
    });

    it('should be gone when it is unloaded', async () => {
        api.setPod('web-0', { ip: PODS[0] });
        await start({ module: null });
        const before = broker.threads;
        for (let times = 0; times < 3; times += 1) {
            const since = monotonicNow();
            await broker.call('MODULE', 'LOAD', modulePath('unicaster.so'));
            const { id } = await ears[0].up({ address: broker.address }, since);
            const modules = await broker.call('MODULE', 'LIST');
            expect(modules.map(([, name]) => name)).toContain('unicaster');
            await broker.call('MODULE', 'UNLOAD', 'unicaster');
            await ears[0].down({ id });
            expect(broker.threads.filter(name => name.startsWith('imq'))).toEqual([]);
        }
        expect(before).toEqual(expect.not.arrayContaining(['imq-watch']));
    });

    it('should stand beside the promoter', async () => {
        api.setPod('web-0', { ip: PODS[0] });
        await start({ args: ['interval', '0.3'], config: ['--loadmodule', modulePath('promoter.so')] });
        await ears[0].up({ address: broker.address, interval: '0.3' });
        await broker.logged('<promoter> announcing');
        await broker.call('MODULE', 'UNLOAD', 'promoter');

        broker.signal('SIGTERM');
        await ears[0].down({ address: broker.address });
        expect(await broker.ended).toMatchObject({ code: 0 });
    });
});

describeHosts('pods on hosts of their own', () => {
    const scene = createHostsScene(3, MODULE);

    it('should find, and miss, a Redis with the module unicaster', async () => {
        const listeners = [
            ...await scene.lan.listen([2]),
            ...await scene.lan.listen([3], {}, { script: 'core-listen-process.js' }),
        ];
        const broker = await scene.redis(1, await scene.kubernetes(1, [2, 3]));
        await Promise.all(listeners.map(listener => listener.line(isAdd)));

        broker.signal('SIGTERM');
        await Promise.all(listeners.map(listener => listener.line(isRemove)));
        expect(listeners.map(outcome)).toEqual(Array(2).fill({ adds: 1, removes: 1 }));
    });
});
