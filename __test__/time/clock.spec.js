'use strict';

const { isAdd, isRemove, nothingFor, outcome } = require('../helpers/said.js');
const { WallClock } = require('../helpers/wall-clock.js');
const { lastHeard, lateness, median } = require('../helpers/deadlines.js');
const { withTroupe } = require('../helpers/troupe.js');
const { onLinux } = require('../helpers/unless.js');

const HOUR_S = 3600;
const BROKERS = 10;
const INTERVAL_MS = 200;
const LISTENER = { aliveTimeoutCorrection: 800 };

const BROKER = { brokers: BROKERS, host: '10.0.0.1', port: 6379, interval: INTERVAL_MS / 1000 };

const describeClock = onLinux('only on Linux can a test have a clock of its own', describe);

describeClock('a host whose clock is stepped', () => {
    let clock;

    beforeEach(() => {
        clock = new WallClock();
    });

    afterEach(() => clock.close());

    it.each([
        ['on', HOUR_S],
        ['back', -HOUR_S],
    ])('should lose no broker, and drop dead ones in time, an hour %s', (_, step) => withTroupe(
        async troupe => {
            const how = { env: clock.env };
            const listener = await troupe.listen(LISTENER, how);
            await troupe.announce({ ...BROKER, id: 'healthy' }, how);
            const dead = await troupe.announce({ ...BROKER, id: 'dead', host: '10.0.0.2' }, how);
            await listener.some(2 * BROKERS, isAdd);

            await dead.kill();
            const heard = await lastHeard(listener);
            const before = await listener.ask('servers');
            clock.step(step);
            // Their deadlines are a second after they were last heard, by any clock but that one.
            const removes = await listener.some(BROKERS, isRemove);
            expect(removes.every(({ id }) => id.startsWith('dead-'))).toBe(true);
            const late = lateness(removes, heard, INTERVAL_MS + 800 + 1);
            expect(Math.min(...late)).toBeGreaterThanOrEqual(0);
            expect(median(late)).toBeLessThan(100);

            // Nothing is to happen to the others for two deadlines more.
            await nothingFor(2000);
            expect(outcome(listener)).toEqual({ adds: 2 * BROKERS, removes: BROKERS });

            const after = await listener.ask('servers');
            // The clock of the process was stepped, and `lastSeen` went with it.
            expect(Math.abs(after.now - Date.now() - step * 1000)).toBeLessThan(1000);
            for (const { lastSeen } of after.servers) {
                expect(after.now - lastSeen).toBeGreaterThanOrEqual(-1);
                expect(after.now - lastSeen).toBeLessThan(1000);
            }
            // Heartbeats neither stopped nor came in a burst.
            const rounds = (after.stats.ups - before.stats.ups) / BROKERS;
            const expected = (after.at - before.at) / INTERVAL_MS;
            expect(rounds).toBeGreaterThan(0.6 * expected);
            expect(rounds).toBeLessThan(1.2 * expected + 2);
        },
    ));
});
