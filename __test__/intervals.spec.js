'use strict';

const { setTimeout: pause } = require('node:timers/promises');

const { collect, createFleet } = require('./helpers/fleet.js');

const DAY_MS = 24 * 60 * 60 * 1000;

/** What `setTimeout` makes fire at once, and what is no interval at all. */
describe('an announced interval', () => {
    let fleet;
    let events;

    beforeEach(async () => {
        fleet = await createFleet({ aliveTimeoutCorrection: 50 });
        events = collect(fleet.manager);
    });

    afterEach(() => fleet.close());

    const announce = interval => fleet.sender.up({ interval });

    it.each(['86401', '3000000', '1e300', '1e308'])(
        'should count as a day if it is longer, and be warned of: %s',
        async interval => {
            await announce(interval);
            await announce(interval);
            await fleet.fence();
            // A sleep to prove that nothing happens: it used to fire within 3 ms.
            await pause(100);

            expect(events).toEqual([['add', expect.objectContaining({ timeout: DAY_MS })]]);
            expect(fleet.logger.warn.mock.calls).toEqual([
                [expect.stringMatching(/10\.0\.0\.1:6379.* once in 86400s or less often/)],
            ]);
        },
    );

    it.each(['Infinity', 'NaN', '-1', '1e309', '9'.repeat(400), '0x10', 'soon', '1,5', ' '])(
        'should be rejected if it is none: %j',
        async interval => {
            await announce(interval);
            await fleet.fence();

            expect(events).toEqual([]);
            expect(fleet.manager.stats().rejected.interval).toBe(1);
        },
    );

    it.each(['0', '-0', '0.0', '1e-300'])(
        'should leave a broker the correction if it is nothing: %s',
        async interval => {
            const added = new Promise(resolve => fleet.manager.once('add', resolve));
            const removed = new Promise(resolve => fleet.manager.once('remove', resolve));
            const started = performance.now();
            await announce(interval);

            expect((await added).timeout).toBe(0);
            await removed;
            expect(performance.now() - started).toBeGreaterThanOrEqual(51);
        },
    );
});
