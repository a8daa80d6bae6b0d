'use strict';

const { setTimeout: pause } = require('node:timers/promises');

const { collect, createFleet, until } = require('./helpers/fleet.js');
const { Sender } = require('./helpers/udp.js');

const BROKER = { id: 'id-1', host: '10.0.0.1', port: 6379, interval: 0.1 };

/** The rules of the fleet as far as they show in JavaScript, with real datagrams and real time. */
describe('a fleet', () => {
    let fleet;
    let events;

    beforeEach(() => start());

    afterEach(() => fleet.close());

    async function start(options) {
        fleet = await createFleet({ aliveTimeoutCorrection: 400, ...options });
        events = collect(fleet.manager);
    }

    const told = () => events.map(([event, { id, host }]) => [event, id, host].join(' '));
    const warnings = () => fleet.logger.warn.mock.calls.map(([line]) => line);

    /** Announces brokers until told to stop, twice in each of their intervals. */
    function keepAnnouncing(...brokers) {
        const timer = setInterval(() => brokers.forEach(broker => fleet.sender.up(broker)), 50);
        return () => clearInterval(timer);
    }

    it('should keep the one address it has of a broker when another one leaves', async () => {
        const other = { ...BROKER, host: '127.0.0.1' };
        await fleet.sender.up(BROKER);
        const stop = keepAnnouncing(other, BROKER);
        // A sleep to prove that nothing happens: two deadlines.
        await pause(1000);
        await fleet.sender.down(other);
        stop();
        await fleet.sender.up(BROKER);
        await fleet.fence();

        expect(told()).toEqual(['add id-1 10.0.0.1']);
    });

    it('should follow a broker that moves with one remove and one add', async () => {
        const moved = { ...BROKER, host: '10.0.0.2' };
        const added = until(fleet.manager, 'add', ({ host }) => host === moved.host);
        await fleet.sender.up(BROKER);
        const stop = keepAnnouncing(moved);
        await added;
        stop();

        expect(told()).toEqual(['add id-1 10.0.0.1', 'remove id-1 10.0.0.1', 'add id-1 10.0.0.2']);
    });

    it('should keep a broker that restarts past the deadline of its former guid', async () => {
        await fleet.sender.up(BROKER);
        const stop = keepAnnouncing({ ...BROKER, id: 'id-2' });
        // A sleep to prove that nothing happens: two deadlines.
        await pause(1000);
        stop();

        expect(told()).toEqual(['add id-1 10.0.0.1', 'update id-2 10.0.0.1']);
    });

    it('should keep a broker whose address somebody else has claimed', async () => {
        const added = until(fleet.manager, 'add');
        const stop = keepAnnouncing(BROKER);
        await added;

        const restored = until(fleet.manager, 'update', ({ id }) => id === BROKER.id);
        await fleet.sender.up({ ...BROKER, id: 'claimed' });
        await restored;
        stop();

        expect(told()).toEqual([
            'add id-1 10.0.0.1',
            'update claimed 10.0.0.1',
            'update id-1 10.0.0.1',
        ]);
    });

    it('should take a broker back that said down, but not within a second', async () => {
        await fleet.sender.up(BROKER);
        await fleet.fence();
        await fleet.sender.down(BROKER);
        await fleet.sender.up(BROKER);
        await fleet.fence();
        expect(told()).toEqual(['add id-1 10.0.0.1', 'remove id-1 10.0.0.1']);
        expect(fleet.manager.stats().ignored.lateUp).toBe(1);

        const added = until(fleet.manager, 'add', ({ id }) => id === BROKER.id);
        const stop = keepAnnouncing(BROKER);
        await added;
        stop();
    });

    it.each([
        ['an unknown guid', { id: 'forged' }],
        ['another address', { host: '10.0.0.9' }],
        ['another port', { port: 6380 }],
    ])('should believe no goodbye with %s', async (_, forged) => {
        await fleet.sender.up({ ...BROKER, interval: 60 });
        for (let count = 0; count < 10; count += 1) {
            await fleet.sender.down({ ...BROKER, ...forged });
        }
        await fleet.fence();

        expect(told()).toEqual(['add id-1 10.0.0.1']);
    });

    it('should say who sends the goodbyes of a broker that keeps coming back', async () => {
        const forger = new Sender(fleet.port);
        const complaint = new Promise(resolve => {
            fleet.logger.warn.mockImplementation(line => {
                return /keeps leaving/.test(line) && resolve(line);
            });
        });
        const forge = ({ id }) => id === BROKER.id && forger.down(BROKER);

        fleet.manager.on('add', forge);
        const stop = keepAnnouncing(BROKER);
        const line = await complaint;
        stop();
        await fleet.fence();
        fleet.manager.off('add', forge);
        await fleet.fence();
        forger.close();

        const [, source, culprit] = line.match(/heard from (\S+) keeps .* came from (\S+);/);
        expect(line).toMatch(/imq-broker at 10\.0\.0\.1:6379/);
        expect(culprit).toMatch(/^127\.0\.0\.1:\d+$/);
        expect(culprit).not.toBe(source);
    });

    it('should be lost broker by broker when it falls silent, and be back at once', async () => {
        const brokers = [1, 2, 3, 4, 5].map(number => ({
            id: `id-${number}`,
            host: `10.0.0.${number}`,
            interval: number / 10,
        }));
        const announce = () => Promise.all(brokers.map(broker => fleet.sender.up(broker)));
        const gone = until(fleet.manager, 'remove', ({ id }) => id === 'id-5');
        await announce();
        await gone;
        expect(told().slice(5)).toEqual(
            brokers.map(({ id, host }) => ['remove', id, host].join(' ')),
        );
        expect(fleet.manager.servers).toEqual([]);
        expect(warnings()).toEqual([expect.stringMatching(/no broker is left: .* fell silent/)]);

        await announce();
        await fleet.fence();
        expect(told().slice(10).sort()).toEqual(told().slice(0, 5).sort());
    });

    it('should have brokers of every name, unless told otherwise', async () => {
        await fleet.sender.up({ id: 'staging', name: 'staging', host: '10.0.0.1' });
        await fleet.sender.up({ id: 'production', name: 'production', host: '10.0.0.2' });
        await fleet.fence();
        expect(told()).toEqual(['add staging 10.0.0.1', 'add production 10.0.0.2']);

        await fleet.close();
        await start({ name: ['production', 'fence'] });
        await fleet.sender.up({ id: 'staging', name: 'staging', host: '10.0.0.1' });
        await fleet.sender.up({ id: 'production', name: 'production', host: '10.0.0.2' });
        await fleet.fence();
        expect(told()).toEqual(['add production 10.0.0.2']);
        expect(fleet.manager.stats().ignored.name).toBe(1);
        expect(warnings()).toEqual([]);
    });
});
