'use strict';

const { createScene } = require('../helpers/hosts-scene.js');
const { describeHosts } = require('../helpers/lan.js');
const { monotonicNow } = require('../helpers/program.js');
const { isAdd, isRemove, nothingFor, outcome } = require('../helpers/said.js');

/** The interfaces of a host are looked at every 500 ms. */
const FOLLOWED_MS = 1500;

describeHosts('Redis with the module promoter on hosts of their own', () => {
    const scene = createScene(3);

    it('should be found, and be missed, by our manager and that of @imqueue/core', async () => {
        const listeners = await scene.listeners();
        const brokers = await Promise.all([1, 2, 3].map(host => scene.redis(host)));
        await Promise.all(listeners.map(listener => listener.some(3, isAdd)));

        await brokers[0].send('SHUTDOWN', 'NOSAVE');
        brokers[1].signal('SIGTERM');
        await Promise.all(listeners.map(listener => listener.some(2, isRemove)));
        // It cannot say that it is gone.
        brokers[2].signal('SIGKILL');
        await Promise.all(listeners.map(listener => listener.some(3, isRemove, 20_000)));
        expect(listeners.map(outcome)).toEqual(Array(6).fill({ adds: 3, removes: 3 }));
    });

    it('should be announced on each network with the address that it has there', async () => {
        [1, 2].forEach(host => scene.lan.plug(host, 1));
        const ears = [await scene.ear(2), await scene.ear(3)];
        await scene.redis(1);
        const [both, one] = ears;

        await both.up({ address: '10.77.0.1:6379', source: '10.77.0.1' });
        await both.up({ address: '10.77.1.1:6379', source: '10.77.1.1' });
        await one.up({ address: '10.77.0.1:6379' });
        await one.up({ address: '10.77.0.1:6379' }, monotonicNow());
        expect(one.heard.every(({ address }) => address === '10.77.0.1:6379')).toBe(true);
        expect(new Set(both.heard.map(({ id }) => id)).size).toBe(1);
    });

    it('should be announced on the networks that are selected', async () => {
        [1, 2].forEach(host => scene.lan.plug(host, 1));
        const both = await scene.ear(2);
        await scene.redis(1, { env: { SELECTED_INTERFACES: '10.77.1.0/24' } });

        await both.up({ address: '10.77.1.1:6379' });
        // Nothing else is to be heard.
        await nothingFor(1200);
        expect(both.heard.every(({ address }) => address === '10.77.1.1:6379')).toBe(true);
    });

    it('should follow interfaces that come and go', async () => {
        const other = await scene.ear(2);
        const broker = await scene.redis(1, { env: { REDIS_BROADCAST_INTERVAL: '600' } });
        await other.up({ address: '10.77.0.1:6379' });

        const plugged = monotonicNow();
        [2, 1].forEach(host => scene.lan.plug(host, 1));
        const up = await other.up({ address: '10.77.1.1:6379' });
        expect(up.at - plugged).toBeLessThan(FOLLOWED_MS);

        const changed = monotonicNow();
        scene.lan.readdress(1, 1, 9);
        const again = await other.up({ address: '10.77.1.9:6379' });
        expect(again.at - changed).toBeLessThan(FOLLOWED_MS);
        await broker.logged('no longer announcing 10.77.1.1:6379');
    });

    it('should not be announced with an address that came too late for it to listen on', async () => {
        const other = await scene.ear(2);
        const config = ['--bind', '10.77.0.1', '-10.77.1.1'];
        await scene.redis(1, { config, env: { REDIS_BROADCAST_INTERVAL: '0.2' } });
        await other.up({ address: '10.77.0.1:6379' });

        [2, 1].forEach(host => scene.lan.plug(host, 1));
        // Nothing is to be heard of it.
        await nothingFor(FOLLOWED_MS);
        expect(other.heard.every(({ address }) => address === '10.77.0.1:6379')).toBe(true);
    });

    it('should be announced once it is on a network at all', async () => {
        scene.lan.addHost(4);
        const other = await scene.ear(2);
        const broker = await scene.redis(4);
        await broker.logged('nothing is announced');

        scene.lan.plug(4, 0);
        await other.up({ address: '10.77.0.4:6379' });
    });
});
