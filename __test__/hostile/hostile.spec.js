'use strict';

const { onLinux } = require('../helpers/unless.js');
const { FLOODS, judge } = require('./floods.js');
const { Siege } = require('./siege.js');

/** By hand it is 100,000 for half a minute each: `npm run hostile`. */
const RATE = 100_000;
const SECONDS = 2;

/** What a machine that is busy with other tests has to reach for the result to mean anything. */
const LEAST_RATE = 5000;

/** What floods has to be built, which is quick where the Rust tests have run. */
const BUILD_LIMIT_MS = 180_000;

/** Short, so that the invented are soon gone. */
const OPTIONS = { aliveTimeoutCorrection: 2000 };

onLinux('only Linux tells what it dropped', describe)('a flood', () => {
    let siege;
    let idle;

    beforeAll(async () => {
        siege = await Siege.begin({ brokers: 20, options: OPTIONS });
        for (const kind of Object.keys(FLOODS)) {
            await siege.flood({ kind, way: 'broadcast', rate: RATE, seconds: 0.3 });
        }
        await siege.calm();
        idle = await siege.idle(1);
    }, BUILD_LIMIT_MS);

    afterAll(() => siege?.end());

    it.each(Object.entries(FLOODS))('of %s should do no harm', async kind => {
        await siege.calm();
        const flood = await siege.flood({ kind, way: 'unicast', rate: RATE, seconds: SECONDS });
        const faults = judge(flood, idle, siege.tolerance);

        expect({ ...flood, idle, faults }).toMatchObject({ faults: [] });
        expect(flood.rate).toBeGreaterThan(LEAST_RATE);
    });

    it('should be over when it is over', async () => {
        expect(await siege.calm()).toEqual({ events: 20, servers: 20, cluster: 20 });
        expect(await siege.finish()).toBe(0);
    });
});
