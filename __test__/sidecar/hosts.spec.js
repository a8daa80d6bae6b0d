'use strict';

const { createScene } = require('../helpers/hosts-scene.js');
const { describeHosts } = require('../helpers/lan.js');
const { monotonicNow } = require('../helpers/program.js');
const { isAdd, isRemove, nothingFor, outcome } = require('../helpers/said.js');

/** The interfaces of a host are looked at every second. */
const FOLLOWED_MS = 2000;

describeHosts('a sidecar on hosts of their own', () => {
    const scene = createScene(3, { module: null });

    it('should be heard by our manager and by that of @imqueue/core', async () => {
        const listeners = await scene.listeners();
        const brokers = await Promise.all([1, 2, 3].map(host => scene.redis(host)));
        const sidecars = await Promise.all([1, 2, 3].map(host => scene.sidecar(host, ['broadcast'])));
        await Promise.all(listeners.map(listener => listener.some(3, isAdd)));

        const killed = brokers[0].signal('SIGKILL');
        const removes = await Promise.all(listeners.map(listener => listener.line(isRemove)));
        removes.forEach(({ at }) => expect(at - killed).toBeLessThan(400));
        brokers[1].signal('SIGTERM');
        sidecars[2].signal('SIGTERM');
        await Promise.all(listeners.map(listener => listener.some(3, isRemove)));
        expect(listeners.map(outcome)).toEqual(Array(6).fill({ adds: 3, removes: 3 }));
    });

    it('should tell on each network the address that it has there', async () => {
        [1, 2].forEach(host => scene.lan.plug(host, 1));
        const [both, one] = [await scene.ear(2), await scene.ear(3)];
        await scene.redis(1);
        await scene.sidecar(1, ['broadcast']);

        await both.up({ address: '10.77.0.1:6379', source: '10.77.0.1' });
        await both.up({ address: '10.77.1.1:6379', source: '10.77.1.1' });
        await one.up({ address: '10.77.0.1:6379' });
        await one.up({ address: '10.77.0.1:6379' }, monotonicNow());
        expect(one.heard.every(({ address }) => address === '10.77.0.1:6379')).toBe(true);
        expect(new Set(both.heard.map(({ id }) => id)).size).toBe(1);
    });

    it('should tell the selected networks only', async () => {
        [1, 2].forEach(host => scene.lan.plug(host, 1));
        const both = await scene.ear(2);
        await scene.redis(1);
        await scene.sidecar(1, ['broadcast', '--interval', '0.2'], {
            env: { SELECTED_INTERFACES: '10.77.1.0/24' },
        });

        await both.up({ address: '10.77.1.1:6379' });
        // Nothing else is to be heard.
        await nothingFor(1000);
        expect(both.heard.every(({ address }) => address === '10.77.1.1:6379')).toBe(true);
    });

    it('should follow interfaces that come and go', async () => {
        const other = await scene.ear(2);
        await scene.redis(1);
        await scene.sidecar(1, ['broadcast', '--interval', '600']);
        await other.up({ address: '10.77.0.1:6379' });

        const plugged = monotonicNow();
        [2, 1].forEach(host => scene.lan.plug(host, 1));
        const up = await other.up({ address: '10.77.1.1:6379' });
        expect(up.at - plugged).toBeLessThan(FOLLOWED_MS);

        const changed = monotonicNow();
        scene.lan.readdress(1, 1, 9);
        const again = await other.up({ address: '10.77.1.9:6379' });
        expect(again.at - changed).toBeLessThan(FOLLOWED_MS);
    });

    it('should say that there is no network, and tell once there is', async () => {
        scene.lan.addHost(4);
        const other = await scene.ear(2);
        await scene.redis(4);
        const announcer = await scene.sidecar(4, ['broadcast']);
        await announcer.logged(/error: .*not announced: no interface .* but loopback.*--advertise/);

        scene.lan.plug(4, 0);
        await other.up({ address: '10.77.0.4:6379' });
    });

    it('should tell the address of a Redis elsewhere', async () => {
        const other = await scene.ear(3);
        await scene.redis(1);
        await scene.sidecar(2, ['broadcast', '--redis', 'redis://10.77.0.1']);
        await other.up({ address: '10.77.0.1:6379', source: '10.77.0.2' });
    });

    it('should tell hosts the address that they reach it at', async () => {
        scene.lan.plug(1, 1);
        const [near, far] = [await scene.ear(2), await scene.ear(3)];
        const broker = await scene.redis(1);
        await scene.sidecar(1, ['unicast', '--to', '10.77.0.2']);
        const up = await near.up();
        expect(up.address).toBe('10.77.0.1:6379');
        broker.signal('SIGKILL');
        await near.down({ id: up.id });
        expect(far.heard).toEqual([]);
    });

    it('should not tell the address of a Redis that listens on loopback only', async () => {
        const other = await scene.ear(2);
        // As on Debian.
        const broker = await scene.redis(1, { config: ['--bind', '127.0.0.1', '-::1'] });
        const announcer = await scene.sidecar(1, ['broadcast', '--interval', '0.2']);
        await announcer.logged(/error: .*not announced: nothing listens at 10\.77\.0\.1:6379, /);
        expect(other.heard).toEqual([]);

        await broker.call('CONFIG', 'SET', 'bind', '*');
        const up = await other.up({ address: '10.77.0.1:6379' });
        await broker.call('CONFIG', 'SET', 'bind', '127.0.0.1');
        const down = await other.down({ id: up.id }, up.at);
        await broker.call('CONFIG', 'SET', 'bind', '*');
        const again = await other.up({ address: '10.77.0.1:6379' }, down.at);
        expect(again.id).not.toBe(up.id);
    });

    it('should tell only the networks on which the Redis listens', async () => {
        [1, 2].forEach(host => scene.lan.plug(host, 1));
        const both = await scene.ear(2);
        const broker = await scene.redis(1, { config: ['--bind', '127.0.0.1', '10.77.1.1'] });
        const announcer = await scene.sidecar(1, ['broadcast', '--interval', '0.2']);
        await both.up({ address: '10.77.1.1:6379' });
        await announcer.logged(/warn: not announced at 10\.77\.0\.1:6379: nothing listens there/);
        await nothingFor(1000);
        expect(both.heard.every(({ address }) => address === '10.77.1.1:6379')).toBe(true);
        expect(new Set(both.heard.map(({ type }) => type))).toEqual(new Set(['up']));

        const [other, bind] = [{ address: '10.77.0.1:6379' }, (...networks) => broker.call(
            'CONFIG', 'SET', 'bind', ['127.0.0.1', '10.77.1.1', ...networks].join(' '),
        )];
        await bind('10.77.0.1');
        const up = await both.up(other);
        await bind();
        const down = await both.down(other, up.at);
        await bind('10.77.0.1');
        // The same broker, as it is still told on the other network: later services listen to it.
        const again = await both.up(other, down.at);
        expect(again.id).toBe(up.id);
        const last = both.heard.findLast(({ type }) => type === 'down');
        expect(again.at - last.at).toBeGreaterThan(1000);
    });

    it('should not be told of a Redis whose host is gone for more than a while', async () => {
        const other = await scene.ear(3);
        await scene.redis(1);
        const announcer = await scene.sidecar(2, [
            'broadcast', '--interval', '0.5', '--redis', '10.77.0.1',
        ]);
        const up = await other.up();
        const gone = monotonicNow();
        scene.lan.setLink(1, 0, 'down');
        const down = await other.down({ id: up.id });
        // Nobody closes the connection.
        expect(down.at - gone).toBeLessThan(1750);
        await announcer.logged(/it has not answered for 1s/);

        scene.lan.setLink(1, 0, 'up');
        const again = await other.up({}, down.at, 15_000);
        expect(again.id).not.toBe(up.id);
    });
});
