'use strict';

const { aRecord, aServer, createCluster, createHarness, settle } = require('./helpers/harness.js');

describe('RustUDPClusterManager', () => {
    let harness;
    let manager;

    beforeEach(() => {
        harness = createHarness();
        manager = harness.createManager({ port: 63001 });
    });

    afterEach(() => manager.destroy());

    describe('constructor', () => {
        it('should start to listen', () => {
            expect(harness.binding.listeners).toHaveLength(1);
            expect(manager.listening).toBe(true);
        });

        it('should throw what keeps the listener from starting, and leave nothing behind', () => {
            const other = createHarness();
            other.binding.startError = new Error('no thread');

            expect(() => other.createManager()).toThrow('no thread');
            expect(other.environment.calls).toEqual(['close']);
        });
    });

    describe('init', () => {
        it.each([
            ['undefined', undefined, 'add, remove'],
            ['an empty object', {}, 'add, remove'],
            ['a cluster without remove', { add() {} }, 'remove'],
            ['a cluster without add', { remove() {}, find() {} }, 'add'],
        ])('should reject %s', (_, cluster, missing) => {
            expect(() => manager.init(cluster)).toThrow(TypeError);
            expect(() => manager.init(cluster)).toThrow(`(missing: ${missing})`);
        });

        it('should return the same object with an id', () => {
            const cluster = createCluster();
            const initialized = manager.init(cluster);

            expect(initialized).toBe(cluster);
            expect(initialized.id).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
        });

        it('should attach a cluster once, however often it is called', async () => {
            const cluster = createCluster({ find: undefined });
            manager.init(cluster);
            manager.init(cluster);

            harness.listener.adds(aServer(1)).wake();
            await settle();

            expect(cluster.add).toHaveBeenCalledTimes(1);
            expect(manager.clusters).toEqual([cluster]);
        });

        it('should listen again after destroy', async () => {
            await manager.destroy();
            const cluster = manager.init(createCluster());

            expect(harness.binding.listeners).toHaveLength(2);
            harness.listener.adds(aServer(1)).wake();
            expect(cluster.servers).toHaveLength(1);
        });

        it('should leave the cluster unattached when it cannot listen again', async () => {
            await manager.destroy();
            harness.binding.startError = new Error('no thread');

            expect(() => manager.init(createCluster())).toThrow('no thread');
            expect(manager.clusters).toEqual([]);
        });
    });

    describe('remove', () => {
        it.each([
            ['the cluster', cluster => cluster],
            ['its id', ({ id }) => id],
            ['something with its id', ({ id }) => ({ id })],
        ])('should detach a cluster, given %s', async (_, handleOf) => {
            const cluster = manager.init(createCluster());
            manager.init(createCluster());

            await manager.remove(handleOf(cluster));
            harness.listener.adds(aServer(1)).wake();

            expect(cluster.add).not.toHaveBeenCalled();
            expect(manager.listening).toBe(true);
        });

        it('should destroy the manager with its last cluster', async () => {
            await manager.remove(manager.init(createCluster()));
            expect(harness.listener.closed).toBe(true);
        });

        it('should keep listening when told so', async () => {
            await manager.remove(manager.init(createCluster()), false);
            expect(harness.listener.closed).toBe(false);
        });

        it('should destroy a manager that has no clusters, as the original does', async () => {
            await manager.remove('never seen');
            expect(harness.listener.closed).toBe(true);
        });

        it('should detach a cluster that another manager has given a new id', async () => {
            const other = harness.createManager();
            const cluster = other.init(manager.init(createCluster()));

            await manager.remove(cluster);
            expect([manager.clusters, other.clusters]).toEqual([[], [cluster]]);
            await other.destroy();
        });

        it.each([undefined, null, 'never seen', {}, { id: 'x' }, createCluster()])(
            'should take a handle that it never saw: %p',
            async handle => {
                manager.init(createCluster());
                await manager.remove(handle);
                await manager.remove(handle);
                expect(manager.clusters).toHaveLength(1);
            },
        );
    });

    describe('destroy', () => {
        it('should close the listener at once', () => {
            manager.destroy();

            expect(harness.listener.closed).toBe(true);
            expect(manager.listening).toBe(false);
            expect(manager.servers).toEqual([]);
            expect(manager.clusters).toEqual([]);
        });

        it('should emit close once per period of listening', async () => {
            const onClose = jest.fn();
            manager.on('close', onClose);

            await Promise.all([manager.destroy(), manager.destroy()]);
            await manager.destroy();
            expect(onClose).toHaveBeenCalledTimes(1);

            manager.init(createCluster());
            await manager.destroy();
            expect(onClose).toHaveBeenCalledTimes(2);
        });

        it('should emit close before its promise resolves, to late listeners too', async () => {
            const onClose = jest.fn();
            const destroyed = manager.destroy();
            manager.on('close', onClose);

            await destroyed;
            expect(onClose).toHaveBeenCalledTimes(1);
        });

        it('should end the drain that it is called in', () => {
            const events = jest.fn();
            const cluster = createCluster({ add: jest.fn(() => void manager.destroy()) });
            manager.on('add', events);
            manager.init(cluster);

            harness.listener.adds(aServer(1), aServer(2), aServer(3)).wake();

            expect(cluster.add).toHaveBeenCalledTimes(1);
            expect(events).not.toHaveBeenCalled();
        });

        it('should keep a restart apart from the drain that it happened in', async () => {
            const late = createCluster();
            const cluster = createCluster({
                add: jest.fn(() => {
                    manager.destroy();
                    manager.init(late);
                }),
            });
            manager.init(cluster);

            harness.listener.adds(aServer(1), aServer(2)).wake();
            await settle();

            expect(late.add).not.toHaveBeenCalled();
            expect(manager.listening).toBe(true);
        });

        it('should not report a rejection that comes after it', async () => {
            let reject;
            const add = () => new Promise((_, fail) => { reject = fail; });
            manager.init(createCluster({ add }));
            harness.listener.adds(aServer(1)).wake();

            await manager.destroy();
            reject(new Error('late'));
            await settle();

            expect(harness.logger.error).not.toHaveBeenCalled();
        });
    });

    describe('events', () => {
        it('should tell of add, update and remove after the clusters were served', () => {
            const cluster = createCluster();
            const seen = [];
            manager.init(cluster);
            manager.on('add', server => seen.push(['add', server, cluster.servers.length]));
            manager.on('update', (...args) => seen.push(['update', ...args]));
            manager.on('remove', server => seen.push(['remove', server, cluster.servers.length]));

            harness.listener
                .adds(aServer(1))
                .hears('update', aServer(1, { id: 'id-new' }), 'id-1')
                .hears('remove', aServer(1, { id: 'id-new' }), 'down')
                .wake();

            expect(seen).toEqual([
                ['add', aRecord(1), 1],
                ['update', aRecord(1, { id: 'id-new' }), 'id-1'],
                ['remove', aRecord(1, { id: 'id-new', type: 'down' }), 0],
            ]);
        });

        it('should tell where it listens', () => {
            const onListening = jest.fn();
            manager.on('listening', onListening);

            harness.listener.notices('info', 'listening', 'listening on 0.0.0.0:63001').wake();

            expect(onListening).toHaveBeenCalledWith({ address: '0.0.0.0', port: 63001 });
            expect(harness.logger.info).toHaveBeenCalledWith(
                'RustUDPClusterManager: listening on 0.0.0.0:63001',
            );
        });

        it('should tell nothing of a socket that is gone again', () => {
            const onListening = jest.fn();
            manager.on('listening', onListening);
            harness.listener.bound = null;

            harness.listener.notices('info', 'listening', 'listening').wake();
            expect(onListening).not.toHaveBeenCalled();
        });

        it('should tell nothing more once a listener has called destroy', () => {
            manager.on('listening', () => manager.destroy());
            harness.listener
                .notices('info', 'listening', 'listening')
                .notices('warn', 'fleetFull', 'the fleet is full')
                .wake();

            expect(harness.logger.warn).not.toHaveBeenCalled();
        });

        it('should surface what a listener throws only after all were told', () => {
            const nextTick = jest.spyOn(process, 'nextTick').mockImplementation(() => {});
            const failure = new Error('mine');
            const cluster = createCluster();
            manager.init(cluster);
            manager.on('add', () => { throw failure; });

            harness.listener.adds(aServer(1), aServer(2)).wake();
            const [[rethrow], ...others] = nextTick.mock.calls;
            nextTick.mockRestore();

            expect(cluster.servers).toHaveLength(2);
            expect(others).toHaveLength(1);
            expect(rethrow).toThrow(failure);
        });

        it.each(['info', 'warn', 'error'])('should log notices at their level: %s', level => {
            harness.listener.notices(level, 'fleet-full', 'the fleet is full').wake();

            expect(harness.logger[level]).toHaveBeenCalledWith(
                'RustUDPClusterManager: the fleet is full',
            );
        });
    });

    describe('forEachCluster', () => {
        it('should call back for every cluster and log failures', async () => {
            const fn = jest.fn(cluster => {
                if (cluster === manager.clusters[0]) {
                    throw new Error('first');
                }
            });
            manager.init(createCluster());
            manager.init(createCluster());

            await manager.forEachCluster(fn);

            expect(fn.mock.calls).toEqual(manager.clusters.map(cluster => [cluster]));
            expect(harness.logger.error).toHaveBeenCalledWith(expect.stringContaining('first'));
        });
    });

    describe('anyCluster', () => {
        it('should call back for every cluster and pass on a failure', async () => {
            manager.init(createCluster());
            const fn = jest.fn();

            await manager.anyCluster(fn);
            expect(fn.mock.calls).toEqual([[manager.clusters[0]]]);

            const failing = manager.anyCluster(() => { throw new Error('no'); });
            await expect(failing).rejects.toThrow('no');
        });
    });

    describe('servers', () => {
        it('should show what the native side knows', () => {
            expect(manager.servers).toEqual([{
                guid: 'id-1',
                name: 'imq-broker',
                host: '10.0.0.1',
                port: 6379,
                transport: undefined,
                lastSeen: 1700000000000,
                source: '10.0.0.1:5000',
            }]);
        });
    });

    describe('stats', () => {
        it('should group counters, and count wake-ups', () => {
            harness.listener.counters = { ups: 2, 'rejected.interval': 1, 'rejected.name': 0 };
            harness.listener.wake();

            expect(manager.stats()).toEqual({
                ups: 2,
                rejected: { interval: 1, name: 0 },
                wakeups: 1,
            });
        });

        it('should keep the last values after destroy', async () => {
            harness.listener.counters = { ups: 2, 'rejected.name': 3 };
            await manager.destroy();

            manager.stats().rejected.name = 7;
            expect(manager.stats()).toMatchObject({ ups: 2, rejected: { name: 3 } });
        });
    });
});
