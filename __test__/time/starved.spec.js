'use strict';

const { limitCpu } = require('../helpers/cpu-quota.js');
const { lastHeard, lateness, median } = require('../helpers/deadlines.js');
const { fleetOf, isAdd, isRemove, nothingFor, outcome } = require('../helpers/said.js');
const { withTroupe } = require('../helpers/troupe.js');
const { Sender } = require('../helpers/udp.js');

const BROKERS = 50;
const STOP_MS = 20_000;
const TIMEOUT_MS = 60_000;

// Deadlines are two seconds away.
const BROKER = { brokers: BROKERS, host: '10.0.0.1', id: 'broker', port: 6379, interval: 1 };
const LISTENER = { aliveTimeoutCorrection: 1000 };
const PATIENCE_MS = 1000 + LISTENER.aliveTimeoutCorrection + 1;

const isHealthy = ({ id }) => id.startsWith(BROKER.id);

// They wait most of the time, so they all do it at once.
describe('a listener that is kept from running', () => {
    it.concurrent('should lose no broker when it is stopped for 20 s', () => withTroupe(
        async troupe => {
            const listener = await troupe.listen(LISTENER);
            await troupe.announce(BROKER);
            const [before, meanwhile] = await Promise.all(['before', 'meanwhile'].map(
                (id, number) => troupe.announce({ ...BROKER, id, host: `10.0.1.${number}` }),
            ));
            await listener.some(3 * BROKERS, isAdd);

            await before.kill();
            await fleetOf(listener);
            listener.signal('SIGSTOP');
            await nothingFor(STOP_MS / 2);
            await meanwhile.kill();
            await nothingFor(STOP_MS / 2);
            listener.signal('SIGCONT');

            const { at: resumed } = await listener.ask('servers');
            const removes = await listener.some(2 * BROKERS, isRemove);
            const after = name => median(removes
                .filter(({ id }) => id.startsWith(name))
                .map(({ at }) => at - resumed));
            // Whoever was not heard has one interval to be heard in (rule 12). What the others said
            // before they died was heard only now.
            expect(after('before')).toBeGreaterThan(900);
            expect(after('before')).toBeLessThan(1100);
            expect(after('meanwhile')).toBeGreaterThan(PATIENCE_MS - 100);
            expect(after('meanwhile')).toBeLessThan(PATIENCE_MS + 100);

            // Nothing is to happen to those that are well for a deadline more.
            await nothingFor(PATIENCE_MS);
            expect(outcome(listener)).toEqual({ adds: 3 * BROKERS, removes: 2 * BROKERS });
            expect(removes.some(isHealthy)).toBe(false);
            expect(await fleetOf(listener)).toHaveLength(BROKERS);
            const { stats } = await listener.ask('servers');
            expect(stats.kernelDrops).toBe(0);
        },
    ), TIMEOUT_MS);

    it.concurrent('should lose no broker when the whole host is stopped for 20 s', () => withTroupe(
        async troupe => {
            const listener = await troupe.listen(LISTENER);
            const announcer = await troupe.announce(BROKER);
            await listener.some(BROKERS, isAdd);

            const host = [listener, announcer];
            host.forEach(program => program.signal('SIGSTOP'));
            await nothingFor(STOP_MS);
            host.forEach(program => program.signal('SIGCONT'));

            // Nothing is to happen for two deadlines.
            await nothingFor(2 * PATIENCE_MS);
            expect(outcome(listener)).toEqual({ adds: BROKERS, removes: 0 });
            expect(await fleetOf(listener)).toHaveLength(BROKERS);
        },
    ), TIMEOUT_MS);

    it.concurrent.each([
        ['up', { useAliveCheck: false }, { id: 'gone', host: '10.0.0.99' }, [2, isAdd]],
        ['down', {}, { id: 'there' }, [1, isRemove]],
    ])('should send on no "%s" that waited while it was stopped', (kind, options, broker, outcome) => (
        withTroupe(async troupe => {
            const eavesdropper = await troupe.eavesdrop();
            const listener = await troupe.listen(options);
            const sender = new Sender(troupe.port);
            await sender.up({ id: 'there', interval: 60 });
            await eavesdropper.received(1);
            await listener.some(1, isAdd);

            listener.signal('SIGSTOP');
            // One of its threads stops the others, once it gets to run.
            await nothingFor(500);
            await sender[kind]({ interval: 60, ...broker });
            sender.close();
            // Nothing is to happen for long enough that the others may have heard what followed.
            await nothingFor(2500);
            listener.signal('SIGCONT');

            await listener.some(...outcome);
            const { stats } = await listener.ask('servers');
            expect(stats.relayed).toBe(1);
        })
    ), TIMEOUT_MS);

    it.concurrent('should send on nothing that waited while it was stopped for little more than 1 s', () => (
        withTroupe(async troupe => {
            const eavesdropper = await troupe.eavesdrop();
            const listener = await troupe.listen();
            const sender = new Sender(troupe.port);
            await sender.up({ id: 'there', interval: 60 });
            await eavesdropper.received(1);
            await listener.some(1, isAdd);

            for (const port of [1, 2, 3, 4, 5, 6]) {
                listener.signal('SIGSTOP');
                // One of its threads stops the others, once it gets to run.
                await nothingFor(500);
                await sender.up({ id: `gone-${port}`, port, interval: 60 });
                // For longer, others do not remember a `down`.
                await nothingFor(800);
                listener.signal('SIGCONT');
                await listener.some(port + 1, isAdd);
            }
            sender.close();

            const { stats } = await listener.ask('servers');
            expect(stats.relayed).toBe(1);
        })
    ), TIMEOUT_MS);

    it.concurrent('should lose no broker when it has 2 % of a CPU and is busy', () => withTroupe(
        async troupe => {
            const listener = await troupe.listen(LISTENER);
            await troupe.announce(BROKER);
            const dead = await troupe.announce({ ...BROKER, id: 'dead', host: '10.0.0.2' });
            await listener.some(2 * BROKERS, isAdd);
            const before = await listener.ask('servers');

            await listener.ask('spin');
            const limit = limitCpu(listener.pid, 0.02);
            try {
                // Nothing is to happen for ten seconds.
                await nothingFor(10_000);
                expect(outcome(listener)).toEqual({ adds: 2 * BROKERS, removes: 0 });
                const after = await listener.ask('servers');
                expect(after.stats.ups - before.stats.ups).toBeGreaterThan(15 * BROKERS);

                await dead.kill();
                const heard = await lastHeard(listener);
                const removes = await listener.some(BROKERS, isRemove);
                expect(removes.some(isHealthy)).toBe(false);
                const late = lateness(removes, heard, PATIENCE_MS);
                expect(Math.min(...late)).toBeGreaterThanOrEqual(0);
                // It runs for 2 ms every 100 ms, and tells what it has seen when it next does.
                expect(median(late)).toBeLessThan(1000);
            } finally {
                limit.release();
            }
        },
    ), TIMEOUT_MS);

    it.concurrent('should tell the difference when its main thread was blocked for 10 s', () => (
        withTroupe(async troupe => {
            const listener = await troupe.listen(LISTENER);
            await troupe.announce(BROKER);
            const [crashes, leaves] = await Promise.all(['crashes', 'leaves'].map(
                (id, number) => troupe.announce({ ...BROKER, brokers: 0, id, port: 1 + number }),
            ));
            await listener.some(BROKERS + 2, isAdd);
            const before = await listener.ask('servers');

            const blocked = listener.ask('block 10000', 20_000);
            await crashes.kill();
            await leaves.end();
            await troupe.announce({ ...BROKER, brokers: 0, id: 'comes', port: 3 });
            const passes = await troupe.announce({ ...BROKER, brokers: 0, id: 'passes', port: 4 });
            await passes.end();
            const { at, stats } = await blocked;

            // All of it was seen meanwhile, and heartbeats went on.
            expect(stats.ups - before.stats.ups).toBeGreaterThan(8 * BROKERS);
            expect(stats).toMatchObject({ added: BROKERS + 4, removed: 3, evicted: 1 });

            await listener.line(({ event, id }) => event === 'add' && id === 'comes');
            // Nothing else is to happen for a deadline.
            await nothingFor(PATIENCE_MS);
            const told = listener.lines
                .filter(line => line.at > at && (isAdd(line) || isRemove(line)));
            expect(told.map(({ event, id }) => `${event} ${id}`).sort()).toEqual([
                'add comes',
                'remove crashes',
                'remove leaves',
            ]);
        })
    ), TIMEOUT_MS);
});
