'use strict';

const { collect, createFleet, until } = require('./helpers/fleet.js');
const { createCluster } = require('./helpers/harness.js');

const BROKER = { id: 'id-1', host: '10.0.0.1', port: 6379, interval: 1 };

describe('a listening manager', () => {
    let fleet;

    afterEach(() => fleet.close());

    it('should tell where it listens', async () => {
        fleet = await createFleet();

        expect(fleet.manager.listening).toBe(true);
        expect(fleet.logger.info).toHaveBeenCalledWith(expect.stringContaining(`:${fleet.port}`));
    });

    it('should tell of a broker that joins and one that leaves', async () => {
        fleet = await createFleet();
        const cluster = fleet.manager.init(createCluster());
        const events = collect(fleet.manager);

        await fleet.sender.up(BROKER);
        await fleet.sender.up(BROKER);
        await fleet.fence();
        await fleet.sender.down(BROKER);
        await fleet.fence();

        const address = { host: '10.0.0.1', port: 6379 };
        const server = { id: 'id-1', name: 'imq-broker', ...address, timeout: 1000 };
        expect(events).toEqual([
            ['add', { ...server, type: 'up' }],
            ['remove', { ...server, type: 'down' }],
        ]);
        expect(cluster.add).toHaveBeenCalledWith({ ...server, type: 'up' });
        expect(cluster.remove).toHaveBeenCalledWith({ ...server, type: 'down' });
    });

    it('should tell within 100 ms, and at once on an idle machine', async () => {
        fleet = await createFleet();
        const delays = [];

        for (let number = 1; number <= 20; number += 1) {
            const added = until(fleet.manager, 'add');
            const sent = performance.now();
            await fleet.sender.up({ ...BROKER, id: `id-${number}`, port: 7000 + number });
            await added;
            delays.push(performance.now() - sent);
        }

        expect(Math.min(...delays)).toBeLessThan(20);
        expect(Math.max(...delays)).toBeLessThan(100);
    });

    it('should keep a broker that restarts, in clusters too', async () => {
        fleet = await createFleet();
        const cluster = fleet.manager.init(createCluster());
        const updated = until(fleet.manager, 'update');

        await fleet.sender.up(BROKER);
        await fleet.fence();
        await fleet.sender.up({ ...BROKER, id: 'id-2' });
        await fleet.sender.down(BROKER);

        const [server, previousId] = await updated;
        await fleet.fence();
        expect([server.id, previousId]).toEqual(['id-2', 'id-1']);
        expect(cluster.remove).not.toHaveBeenCalled();
        expect(fleet.manager.servers).toContainEqual(expect.objectContaining({ guid: 'id-2' }));
        expect(fleet.manager.stats().ignored.formerOwner).toBe(1);
    });

    it('should remove a silent broker between 0 and 100 ms after its deadline', async () => {
        fleet = await createFleet({ aliveTimeoutCorrection: 200 });
        const interval = 0.1;
        const deadline = 100 + 200 + 1;
        const delays = [];

        for (let number = 1; number <= 5; number += 1) {
            const removed = until(fleet.manager, 'remove', ({ id }) => id === `id-${number}`);
            const before = performance.now();
            await fleet.sender.up({ ...BROKER, id: `id-${number}`, interval });
            const after = performance.now();
            const [server] = await removed;

            expect(server.type).toBe('up');
            // Never too early, whatever the machine does.
            expect(performance.now() - before).toBeGreaterThanOrEqual(deadline);
            delays.push(performance.now() - after - deadline);
        }
        // A busy machine only delays: the quickest one is what the listener can do.
        expect(Math.min(...delays)).toBeLessThan(100);
    }, 20_000);

    it('should keep a silent broker when the alive check is off', async () => {
        fleet = await createFleet({ aliveTimeoutCorrection: 0, useAliveCheck: false });
        const events = collect(fleet.manager);

        await fleet.sender.up({ ...BROKER, interval: 0 });
        await fleet.fence();
        // A sleep to prove that nothing happens: a hundred times the deadline that there is not.
        await new Promise(resolve => setTimeout(resolve, 100));

        expect(events).toHaveLength(1);
    });

    it('should show its brokers with their last heartbeat', async () => {
        fleet = await createFleet();
        const before = Date.now();
        await fleet.sender.up({ ...BROKER, transport: 'tls' });
        await fleet.fence();

        const broker = fleet.manager.servers.find(({ guid }) => guid === 'id-1');
        expect(broker).toEqual({
            guid: 'id-1',
            name: 'imq-broker',
            host: '10.0.0.1',
            port: 6379,
            transport: 'tls',
            lastSeen: expect.any(Number),
            source: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
        });
        expect(broker.lastSeen).toBeGreaterThanOrEqual(before - 1000);
        expect(broker.lastSeen).toBeLessThanOrEqual(Date.now() + 1000);
    });

    it('should hear only the names that it is told to', async () => {
        fleet = await createFleet({ name: ['wanted', 'fence'] });
        const events = collect(fleet.manager);

        await fleet.sender.up({ ...BROKER, name: 'foreign' });
        await fleet.sender.up({ ...BROKER, name: 'wanted' });
        await fleet.fence();

        expect(events.map(([event, { name }]) => [event, name])).toEqual([['add', 'wanted']]);
        expect(fleet.manager.stats().ignored.name).toBe(1);
    });

    it('should hear a broadcast', async () => {
        fleet = await createFleet();
        const added = until(fleet.manager, 'add');
        await fleet.sender.send('imq-broker\tid-1\tup\t10.0.0.1:6379\t1', '127.255.255.255');

        expect((await added)[0].id).toBe('id-1');
    });

    it('should track no more brokers than maxServers', async () => {
        fleet = await createFleet({ maxServers: 2 });
        const events = collect(fleet.manager);

        await fleet.sender.up(BROKER);
        await fleet.fence();
        await fleet.sender.up({ ...BROKER, id: 'id-2', port: 6380 });
        await fleet.sender.down(BROKER);
        await fleet.fence();

        expect(events.map(([event, { id }]) => [event, id])).toEqual([
            ['add', 'id-1'],
            ['remove', 'id-1'],
        ]);
        expect(fleet.manager.stats().ignored.fleetFull).toBe(1);
        expect(fleet.logger.warn).toHaveBeenCalledWith(expect.stringContaining('maxServers'));
    });

    it('should begin with an empty fleet after destroy and init', async () => {
        fleet = await createFleet();
        await fleet.sender.up(BROKER);
        await fleet.fence();
        await fleet.manager.destroy();
        expect(fleet.manager.servers).toEqual([]);

        const listening = until(fleet.manager, 'listening');
        const cluster = fleet.manager.init(createCluster());
        await listening;
        expect(cluster.add).not.toHaveBeenCalled();

        await fleet.sender.up(BROKER);
        await fleet.fence();
        expect(cluster.add).toHaveBeenCalledWith(expect.objectContaining({ id: 'id-1' }));
    });

    it('should share what it knows with a manager that has the same options', async () => {
        fleet = await createFleet();
        await fleet.sender.up(BROKER);
        await fleet.fence();

        const other = await createFleet({ port: fleet.port });
        const cluster = other.manager.init(createCluster());
        await fleet.fence();

        expect(cluster.add).toHaveBeenCalledWith(expect.objectContaining({ id: 'id-1' }));
        await other.close();
        await fleet.fence();
    });
});
