'use strict';

const { onLinux } = require('../helpers/unless.js');
const { Soak } = require('./soak.js');
const { judgeVitals } = require('./vitals.js');

/** By hand it is half an hour: `npm run soak -- --minutes 30`. */
const SECONDS = Number(process.env.SOAK_SECONDS ?? 60);

/** The same for everybody: whether a change lands is not for chance to say. */
const SEED = Number(process.env.SOAK_SEED ?? 2026);

/** Starting, and letting the last deadline pass, takes half a minute on a slow machine. */
const LIMIT_MS = SECONDS * 1000 + 60_000;

const itOnLinux = onLinux('only Linux hands each broadcast to every socket on its port', it);

describe('a fleet that changes all the time', () => {
    let soak;

    afterEach(() => soak?.close());

    itOnLinux(`should be what every manager says (seed ${SEED})`, async () => {
        soak = new Soak({
            seconds: SECONDS,
            seed: SEED,
            brokers: 50,
            real: 5,
            rate: 100,
            correction: 2000,
            // Other tests keep the machine busy meanwhile.
            slack: 1000,
        });
        const { calls, checked, counts, faults, vitals } = await soak.run();

        expect([...faults, ...judgeVitals(vitals, SECONDS / 60)]).toEqual([]);
        // It was a test of something.
        expect(checked).toBeGreaterThan(SECONDS);
        expect(calls.answered).toBeGreaterThan(SECONDS * 10);
        expect(counts.join).toBeGreaterThan(50);
        expect(counts.leave).toBeGreaterThan(0);
        expect(counts.crash).toBeGreaterThan(0);
    }, LIMIT_MS);
});
