'use strict';

jest.mock('node:timers', () => require('./helpers/global-timers.js'));

const { departure, followDeparture } = require('../lib/departures.js');
const { aRecord, aServer, createCluster, createHarness } = require('./helpers/harness.js');

/** Of one Redis, all queues of core share the connection that they write to. */
describe('a broker that comes back while its queue is still being destroyed', () => {
    let cluster;
    let finish;
    let harness;
    let manager;
    let queue;

    beforeEach(() => {
        jest.useFakeTimers();
        harness = createHarness();
        manager = harness.createManager();
        const destroyed = new Promise(resolve => { finish = resolve; });
        queue = { destroy: () => destroyed, writer: { disconnect: jest.fn(finish) } };
        const servers = [];
        cluster = createCluster({
            servers,
            add: jest.fn(server => {
                servers.push({ ...server, imq: servers.length === 0 ? queue : undefined });
                return servers.at(-1);
            }),
            find: server => servers.find(({ host }) => host === server.host),
            remove: jest.fn(() => servers.pop().imq?.destroy()),
        });
        manager.init(cluster);
        harness.listener.adds(aServer(1)).wake();
        harness.listener.hears('remove', aServer(1), 'expired').wake();
    });

    afterEach(async () => {
        finish();
        await manager.destroy();
        jest.useRealTimers();
    });

    it('should be given again once it is', async () => {
        harness.listener.adds(aServer(1)).wake();
        await jest.advanceTimersByTimeAsync(1000);
        expect(cluster.add).toHaveBeenCalledTimes(1);

        finish();
        await jest.advanceTimersByTimeAsync(0);
        expect(cluster.add).toHaveBeenCalledTimes(2);
        expect(queue.writer.disconnect).not.toHaveBeenCalled();
    });

    it('should be given as it is by then', async () => {
        harness.listener.adds(aServer(1)).wake();
        harness.listener.hears('update', aServer(1, { id: 'id-new' }), 'id-1').wake();

        finish();
        await jest.advanceTimersByTimeAsync(0);
        expect(cluster.add).toHaveBeenLastCalledWith(aRecord(1, { id: 'id-new' }));
    });

    it('should not be given if it is gone again by then', async () => {
        harness.listener.adds(aServer(1)).wake();
        harness.listener.hears('remove', aServer(1), 'down').wake();

        finish();
        await jest.advanceTimersByTimeAsync(10_000);
        expect(cluster.add).toHaveBeenCalledTimes(1);
    });

    it('should be given after 2 s, when the connection that does not answer is cut', async () => {
        harness.listener.adds(aServer(1)).wake();

        await jest.advanceTimersByTimeAsync(1999);
        expect(queue.writer.disconnect).not.toHaveBeenCalled();
        await jest.advanceTimersByTimeAsync(1);
        expect(queue.writer.disconnect).toHaveBeenCalledWith(false);
        expect(cluster.add).toHaveBeenCalledTimes(2);
    });

    it('should wait for what is destroyed meanwhile, however often another one was', async () => {
        const endings = [];
        const follow = () => {
            const other = { destroy: () => new Promise(resolve => { endings.push(resolve); }) };
            followDeparture(other, 'redis:1');
            return other;
        };
        const [twice, later] = [follow(), follow()];
        twice.destroy();
        twice.destroy();
        endings[0]();
        await jest.advanceTimersByTimeAsync(0);
        later.destroy();
        endings[1]();
        await jest.advanceTimersByTimeAsync(0);

        expect(departure('redis:1')).toBeInstanceOf(Promise);
        endings[2]();
        await departure('redis:1');
        expect(departure('redis:1')).toBeUndefined();
    });

    it('should not keep other brokers waiting', () => {
        harness.listener.adds(aServer(1), aServer(2)).wake();

        expect(cluster.add).toHaveBeenLastCalledWith(aRecord(2));
    });
});
