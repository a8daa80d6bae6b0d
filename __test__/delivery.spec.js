'use strict';

const { AsyncLocalStorage } = require('node:async_hooks');

const { aRecord, aServer, createCluster, createHarness, settle } = require('./helpers/harness.js');

describe('delivery to clusters', () => {
    let harness;
    let manager;
    let cluster;

    beforeEach(() => {
        harness = createHarness();
        manager = harness.createManager();
        cluster = createCluster();
    });

    afterEach(() => manager.destroy());

    const places = () => cluster.servers.map(({ id, host }) => `${id} ${host}`).sort();

    const logged = () => harness.logger.error.mock.calls.map(([line]) => line).join('\n');

    it('should give a broker that is heard to every cluster', () => {
        const other = createCluster();
        manager.init(cluster);
        manager.init(other);

        harness.listener.adds(aServer(1)).wake();

        expect(cluster.add.mock.calls).toEqual([[aRecord(1)]]);
        expect(other.add.mock.calls).toEqual([[aRecord(1)]]);
    });

    it('should give each cluster a record of its own', () => {
        const other = createCluster();
        manager.init(cluster);
        manager.init(other);

        harness.listener.adds(aServer(1)).wake();

        expect(cluster.servers[0]).not.toBe(other.servers[0]);
    });

    it('should remove a broker again that went while it was still being added', async () => {
        let finish;
        const added = new Promise(resolve => { finish = resolve; });
        cluster = createCluster({ add: jest.fn(() => added) });
        manager.init(cluster);

        harness.listener.adds(aServer(1)).wake();
        harness.listener.hears('remove', aServer(1), 'down').wake();
        cluster.remove.mockClear();
        finish({});
        await settle();

        expect(cluster.remove.mock.calls).toEqual([[aRecord(1, { type: 'down' })]]);
    });

    it('should keep a broker that went and came back while it was still being added', async () => {
        let finish;
        const added = new Promise(resolve => { finish = resolve; });
        cluster = createCluster();
        cluster.add.mockImplementationOnce(() => added);
        manager.init(cluster);

        harness.listener.adds(aServer(1)).wake();
        harness.listener.hears('remove', aServer(1), 'down').wake();
        harness.listener.adds(aServer(1)).wake();
        finish({});
        await settle();

        expect(cluster.servers).toEqual([aRecord(1)]);
    });

    it('should outlive whatever is thrown, also what has no text', async () => {
        const nothing = Object.create(null);
        const other = createCluster();
        manager.init(createCluster({
            add: () => { throw nothing; },
            find: () => { throw nothing; },
        }));
        manager.init(createCluster({ add: async () => { throw nothing; } }));
        manager.init(other);

        harness.listener.adds(aServer(1)).wake();
        await settle();
        await manager.forEachCluster(() => { throw nothing; });

        expect(other.servers).toEqual([aRecord(1)]);
        expect(logged()).toMatch(/has no text/);
    });

    it.each(['add', 'find'])('should outlive a record of %s that throws when it is read', method => {
        const record = { get imq() { throw new Error('hands off'); } };
        const other = createCluster();
        manager.init(createCluster({ [method]: jest.fn(() => record) }));
        manager.init(other);

        harness.listener.adds(aServer(1)).wake();

        expect(other.servers).toEqual([aRecord(1)]);
        expect(harness.logger.warn.mock.calls.join()).toMatch(/cannot be guarded: Error: hands off/);
    });

    it('should name the transport where it was announced', () => {
        manager.init(cluster);
        harness.listener.adds(aServer(1, { transport: 'tls' })).wake();

        expect(cluster.add).toHaveBeenCalledWith(aRecord(1, { transport: 'tls' }));
    });

    it('should call the callbacks as methods of the cluster', () => {
        class Cluster {
            servers = [];

            add(server) {
                this.servers.push(server);
            }

            remove() {
                this.servers.pop();
            }
        }
        const instance = manager.init(new Cluster());

        harness.listener.adds(aServer(1), aServer(2)).hears('remove', aServer(2), 'down').wake();

        expect(instance.servers).toEqual([aRecord(1)]);
    });

    it('should come in the asynchronous context of the manager that delivers', () => {
        const context = new AsyncLocalStorage();
        const contexts = [];
        const managers = ['request 1', 'request 2'].map(name => context.run(name, () => {
            const one = harness.createManager();
            one.on('add', () => contexts.push([name, context.getStore()]));
            return one;
        }));

        harness.binding.listeners.forEach(listener => listener.adds(aServer(1)));
        context.run('request 3', () => harness.listener.wake());

        expect(contexts).toEqual([['request 1', 'request 1'], ['request 2', 'request 2']]);
        return Promise.all(managers.map(one => one.destroy()));
    });

    it('should hand known brokers to a new cluster once its constructor has finished', async () => {
        harness.listener.adds(aServer(1), aServer(2)).wake();

        manager.init(cluster);
        expect(cluster.add).not.toHaveBeenCalled();

        await Promise.resolve();
        expect(cluster.servers).toEqual([aRecord(1), aRecord(2)]);
    });

    it('should hand nothing to a new cluster that has left meanwhile', async () => {
        harness.listener.adds(aServer(1)).wake();

        const removed = manager.remove(manager.init(cluster), false);
        await removed;
        await settle();

        expect(cluster.add).not.toHaveBeenCalled();
    });

    it('should not give what the cluster has', () => {
        cluster.servers.push(aRecord(1));
        manager.init(cluster);

        harness.listener.adds(aServer(1)).wake();

        expect(cluster.find).toHaveBeenCalledWith(aRecord(1), true);
        expect(cluster.add).not.toHaveBeenCalled();
    });

    it('should wait where the cluster has the id at another address', () => {
        cluster.servers.push({ ...aRecord(1), host: '10.0.0.9' });
        manager.init(cluster);

        harness.listener.adds(aServer(1)).wake();
        expect(cluster.add).not.toHaveBeenCalled();

        harness.listener.hears('remove', aServer(1), 'down').wake();
        expect(cluster.remove).not.toHaveBeenCalled();
    });

    it('should give a broker that moves, and the one that took its address over', () => {
        manager.init(cluster);
        harness.listener.adds(aServer(1)).wake();

        const successor = aServer(2, { host: '10.0.0.1' });
        const moved = aServer(1, { host: '10.0.0.9' });
        harness.listener.hears('update', successor, 'id-1').adds(moved).wake();

        expect(places()).toEqual(['id-1 10.0.0.9', 'id-2 10.0.0.1']);
        expect(cluster.remove.mock.calls).toEqual([[aRecord(1, { type: 'down' })]]);
    });

    it('should give all where each moved to the address of the next', () => {
        manager.init(cluster);
        harness.listener.adds(aServer(1), aServer(2)).wake();

        harness.listener
            .hears('update', aServer(3, { host: '10.0.0.2' }), 'id-2')
            .hears('update', aServer(2, { host: '10.0.0.1' }), 'id-1')
            .adds(aServer(1, { host: '10.0.0.9' }))
            .wake();

        expect(places()).toEqual(['id-1 10.0.0.9', 'id-2 10.0.0.1', 'id-3 10.0.0.2']);
    });

    it('should keep a broker whose successor has an id that is in use', () => {
        manager.init(cluster);
        harness.listener.adds(aServer(1), aServer(2)).wake();

        harness.listener
            .hears('update', aServer(2, { host: '10.0.0.1' }), 'id-1')
            .adds(aServer(1, { host: '10.0.0.9' }))
            .wake();

        expect(places()).toEqual(['id-1 10.0.0.1', 'id-2 10.0.0.2']);
        expect(cluster.remove).not.toHaveBeenCalled();
    });

    it('should give a cluster without find no id twice', async () => {
        cluster = createCluster({ find: undefined });
        manager.init(cluster);
        harness.listener.adds(aServer(1)).wake();

        const successor = aServer(2, { host: '10.0.0.1' });
        const moved = aServer(1, { host: '10.0.0.9' });
        harness.listener.hears('update', successor, 'id-1').adds(moved).wake();
        expect(places()).toEqual(['id-1 10.0.0.9', 'id-2 10.0.0.1']);

        harness.listener.hears('remove', successor, 'down').wake();
        expect(places()).toEqual(['id-1 10.0.0.9']);
    });

    it('should not take away what another manager gave under the same id', () => {
        manager.init(cluster);
        harness.listener.adds(aServer(1)).wake();
        cluster.servers.splice(0, 1, { ...aRecord(1), host: '10.0.0.9' });

        harness.listener.hears('remove', aServer(1), 'down').wake();

        expect(places()).toEqual(['id-1 10.0.0.9']);
    });

    it('should give the next at an address once the one before has been added, and removed', async () => {
        let finish;
        const added = new Promise(resolve => { finish = resolve; });
        const calls = [];
        cluster = createCluster({
            add: ({ id }) => {
                calls.push(`add ${id}`);
                return id === 'id-1' ? added : undefined;
            },
            remove: ({ id }) => { calls.push(`remove ${id}`); },
            find: undefined,
        });
        manager.init(cluster);

        const next = aServer(2, { host: '10.0.0.1' });
        harness.listener.adds(aServer(1)).wake();
        harness.listener.hears('remove', aServer(1), 'down').wake();
        harness.listener.adds(next).wake();
        await settle();
        expect(calls).toEqual(['add id-1', 'remove id-1']);

        finish();
        await settle();
        expect(calls).toEqual(['add id-1', 'remove id-1', 'remove id-1', 'add id-2']);
    });

    it('should give the broker when find throws, and log that', () => {
        cluster.find.mockImplementation(() => {
            throw new Error('no such thing');
        });
        manager.init(cluster);

        harness.listener.adds(aServer(1)).wake();

        expect(cluster.servers).toEqual([aRecord(1)]);
        expect(logged()).toMatch(/find\(\) of a cluster failed for 10\.0\.0\.1:6379: .*no such/);
    });

    it.each([['down', 'down'], ['expired', 'up']])(
        'should remove a broker that is %s with type %s',
        (reason, type) => {
            manager.init(cluster);
            harness.listener.adds(aServer(1)).wake();

            harness.listener.hears('remove', aServer(1), reason).wake();

            expect(cluster.remove.mock.calls).toEqual([[aRecord(1, { type })]]);
        },
    );

    it('should remove a restarted broker under the id that it was given under', () => {
        manager.init(cluster);
        harness.listener.adds(aServer(1)).wake();

        harness.listener
            .hears('update', aServer(1, { id: 'id-new' }), 'id-1')
            .hears('remove', aServer(1, { id: 'id-new' }), 'down')
            .wake();

        expect(cluster.add).toHaveBeenCalledTimes(1);
        expect(cluster.remove.mock.calls).toEqual([[aRecord(1, { type: 'down' })]]);
    });

    it('should give a new cluster a restarted broker under its new id', async () => {
        harness.listener
            .adds(aServer(1))
            .hears('update', aServer(1, { id: 'id-new' }), 'id-1')
            .wake();

        manager.init(cluster);
        await settle();

        expect(cluster.servers).toEqual([aRecord(1, { id: 'id-new' })]);
    });

    it.each(['throws', 'rejects'])('should serve the others when add %s', async how => {
        const fail = how === 'throws'
            ? () => { throw new Error('full'); }
            : async () => { throw new Error('full'); };
        const other = createCluster();
        manager.init(createCluster({ add: fail }));
        manager.init(other);

        harness.listener.adds(aServer(1), aServer(2)).wake();
        await settle();

        expect(other.servers).toHaveLength(2);
        expect(logged()).toMatch(/add\(\) of a cluster failed for 10\.0\.0\.1:6379.*full/);
    });

    it.each(['throws', 'rejects'])('should serve the others when remove %s', async how => {
        const fail = how === 'throws'
            ? () => { throw new Error('stuck'); }
            : async () => { throw new Error('stuck'); };
        const other = createCluster();
        manager.init(createCluster({ remove: fail }));
        manager.init(other);

        harness.listener.adds(aServer(1)).hears('remove', aServer(1), 'down').wake();
        await settle();

        expect(other.servers).toHaveLength(0);
        expect(logged()).toMatch(/remove\(\) of a cluster failed for 10\.0\.0\.1:6379.*stuck/);
    });

    it('should go on with other managers when a cluster throws', () => {
        const other = createCluster();
        manager.init(createCluster({ add: () => { throw new Error('full'); } }));
        harness.listener.adds(aServer(1));

        const second = harness.createManager();
        second.init(other);
        harness.listener.adds(aServer(1)).wake();

        expect(other.servers).toHaveLength(1);
        return second.destroy();
    });

    it('should serve a cluster no more that leaves while others are served', () => {
        const leaving = createCluster();
        manager.init(createCluster({ add: () => void manager.remove(leaving) }));
        manager.init(leaving);

        harness.listener.adds(aServer(1)).wake();

        expect(leaving.add).not.toHaveBeenCalled();
    });

    it('should leave room for the event loop in a storm', async () => {
        manager.init(cluster);
        const storm = Array.from({ length: 600 }, (_, index) => aServer(index));

        harness.listener.adds(...storm).wake();
        expect(cluster.add).toHaveBeenCalledTimes(256);

        await settle();
        await settle();
        await settle();
        expect(cluster.add).toHaveBeenCalledTimes(600);
    });
});
