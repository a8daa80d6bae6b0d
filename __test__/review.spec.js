'use strict';

jest.mock('node:timers', () => require('./helpers/global-timers.js'));

const { aRecord, aServer, createCluster, createHarness } = require('./helpers/harness.js');
const { runScript } = require('./helpers/run-node.js');

const FIVE_SECONDS = 5000;

describe('review of what clusters have', () => {
    let harness;
    let manager;

    beforeEach(() => {
        jest.useFakeTimers();
        harness = createHarness();
        manager = harness.createManager();
    });

    afterEach(async () => {
        await manager.destroy();
        expect(jest.getTimerCount()).toBe(0);
        jest.useRealTimers();
    });

    it.each(['throws', 'rejects'])('should offer again within 5 s when add %s', async how => {
        const cluster = createCluster();
        cluster.add.mockImplementationOnce(how === 'throws'
            ? () => { throw new Error('not yet'); }
            : async () => { throw new Error('not yet'); });
        manager.init(cluster);

        harness.listener.adds(aServer(1)).wake();
        await jest.advanceTimersByTimeAsync(FIVE_SECONDS);

        expect(cluster.add).toHaveBeenCalledTimes(2);
        expect(cluster.servers).toEqual([aRecord(1)]);
    });

    it('should leave turns of the event loop to others while it looks at a large fleet', async () => {
        const cluster = createCluster();
        const servers = Array.from({ length: 1000 }, (_, number) => aServer(number));
        manager.init(cluster);
        harness.listener.adds(...servers).wake();
        while (cluster.servers.length < servers.length) {
            await jest.advanceTimersByTimeAsync(1);
        }

        const looked = () => cluster.find.mock.calls.map(([{ id }]) => id);
        cluster.find.mockClear();
        jest.advanceTimersToNextTimer();
        const first = looked();
        expect(first.length).toBeGreaterThan(0);
        expect(first.length).toBeLessThan(100);

        harness.listener.hears('remove', aServer(999), 'down').wake();
        cluster.find.mockClear();
        await jest.advanceTimersByTimeAsync(FIVE_SECONDS / 2 - 1);
        expect(looked()).not.toContain('id-999');
        expect(new Set([...first, ...looked()]).size).toBe(999);
        expect(cluster.servers).toHaveLength(999);
    });

    it('should offer again within 5 s what the cluster has lost', async () => {
        const cluster = createCluster();
        manager.init(cluster);
        harness.listener.adds(aServer(1)).wake();

        cluster.servers.pop();
        await jest.advanceTimersByTimeAsync(FIVE_SECONDS);

        expect(cluster.servers).toEqual([aRecord(1)]);
    });

    it('should offer again within 5 s once the id is no longer elsewhere', async () => {
        const cluster = createCluster();
        cluster.servers.push({ ...aRecord(1), host: '10.0.0.9' });
        manager.init(cluster);
        harness.listener.adds(aServer(1)).wake();

        cluster.servers.pop();
        await jest.advanceTimersByTimeAsync(FIVE_SECONDS);

        expect(cluster.servers).toEqual([aRecord(1)]);
    });

    it('should offer again what the cluster has lost while it has the id elsewhere', async () => {
        const cluster = createCluster();
        manager.init(cluster);
        harness.listener
            .adds(aServer(1))
            .hears('update', aServer(1, { id: 'id-new' }), 'id-1')
            .wake();

        cluster.servers.splice(0, 1, { ...aRecord(1), host: '10.0.0.9' });
        await jest.advanceTimersByTimeAsync(FIVE_SECONDS);

        expect(cluster.servers.at(-1)).toEqual(aRecord(1, { id: 'id-new' }));
    });

    it('should look for a restarted broker under the id that it was given under', async () => {
        const byId = server => cluster.servers.find(({ id }) => id === server.id);
        const cluster = createCluster({ find: jest.fn(byId) });
        manager.init(cluster);

        harness.listener
            .adds(aServer(1))
            .hears('update', aServer(1, { id: 'id-new' }), 'id-1')
            .wake();
        await jest.advanceTimersByTimeAsync(FIVE_SECONDS);

        expect(cluster.find).toHaveBeenLastCalledWith(aRecord(1), true);
        expect(cluster.add).toHaveBeenCalledTimes(1);
    });

    it('should offer a lost broker that restarted under its new id', async () => {
        const cluster = createCluster();
        manager.init(cluster);
        harness.listener
            .adds(aServer(1))
            .hears('update', aServer(1, { id: 'id-new' }), 'id-1')
            .wake();

        cluster.servers.pop();
        await jest.advanceTimersByTimeAsync(FIVE_SECONDS);

        expect(cluster.servers).toEqual([aRecord(1, { id: 'id-new' })]);
    });

    it('should not offer again while add is still on its way', async () => {
        let finish;
        const add = jest.fn(() => new Promise(resolve => { finish = resolve; }));
        const cluster = createCluster({ add });
        manager.init(cluster);

        harness.listener.adds(aServer(1)).wake();
        await jest.advanceTimersByTimeAsync(4 * FIVE_SECONDS);
        expect(add).toHaveBeenCalledTimes(1);

        finish(undefined);
        await jest.advanceTimersByTimeAsync(FIVE_SECONDS);
        expect(add).toHaveBeenCalledTimes(2);
    });

    it.each([
        ['without find', { find: undefined }],
        ['whose find throws', { find: () => { throw new Error('no'); } }],
    ])('should believe a cluster %s that it has what it took', async (_, more) => {
        const cluster = createCluster(more);
        manager.init(cluster);

        harness.listener.adds(aServer(1)).wake();
        await jest.advanceTimersByTimeAsync(4 * FIVE_SECONDS);

        expect(cluster.add).toHaveBeenCalledTimes(1);
    });

    it('should offer nothing that is gone', async () => {
        const cluster = createCluster({ add: jest.fn(() => { throw new Error('full'); }) });
        manager.init(cluster);

        harness.listener.adds(aServer(1)).hears('remove', aServer(1), 'expired').wake();
        await jest.advanceTimersByTimeAsync(FIVE_SECONDS);

        expect(cluster.add).toHaveBeenCalledTimes(1);
    });

    describe('timer', () => {
        it('should not run without clusters', () => {
            harness.listener.adds(aServer(1)).wake();
            expect(jest.getTimerCount()).toBe(0);
        });

        it('should not run without brokers', () => {
            manager.init(createCluster());
            harness.listener.adds(aServer(1)).hears('remove', aServer(1), 'down').wake();
            expect(jest.getTimerCount()).toBe(0);
        });

        it('should run once, however many there are', () => {
            manager.init(createCluster());
            manager.init(createCluster());
            harness.listener.adds(aServer(1), aServer(2)).wake();
            expect(jest.getTimerCount()).toBe(1);
        });

        it('should end when the last cluster leaves', async () => {
            const cluster = manager.init(createCluster());
            harness.listener.adds(aServer(1)).wake();

            await manager.remove(cluster, false);

            expect(jest.getTimerCount()).toBe(0);
        });

        it('should not keep the process up', () => {
            const unref = jest.spyOn(globalThis, 'setInterval');
            manager.init(createCluster());
            harness.listener.adds(aServer(1)).wake();

            expect(unref.mock.results[0].value.hasRef()).toBe(false);
        });
    });
});

describe('review of a large fleet in a process that does nothing else', () => {
    const SCRIPT = `
        const { createFacade } = require('./lib/facade.js');
        const { createFakeBinding } = require('./__test__/helpers/fake-binding.js');

        const binding = createFakeBinding();
        const { RustUDPClusterManager } = createFacade(() => binding);
        const logger = { log() {}, info() {}, warn() {}, error() {} };
        const known = new Set();
        let lostAt;

        new RustUDPClusterManager({ logger }).init({
            add({ id }) {
                known.add(id);
                if (lostAt) {
                    process.stdout.write(String(performance.now() - lostAt), () => process.exit());
                }
            },
            remove() {},
            find: ({ id, host, port }) => known.has(id) ? { id, host, port } : undefined,
        });
        const servers = Array.from({ length: 200 }, (_, number) => (
            { id: 'id-' + number, name: 'imq', host: '10.0.0.1', port: number + 1, timeout: 1000 }
        ));
        binding.listeners[0].adds(...servers).wake();
        known.delete('id-199');
        lostAt = performance.now();
        setTimeout(() => process.exit(1), 10_000);
    `;

    it('should offer within 5 s what the cluster has lost', async () => {
        const { code, stdout } = await runScript(SCRIPT);

        expect(code).toBe(0);
        expect(Number(stdout)).toBeLessThan(FIVE_SECONDS);
    });
});
