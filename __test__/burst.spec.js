'use strict';

const { collect, createFleet } = require('./helpers/fleet.js');

const BROKERS = Array.from({ length: 500 }, (_, number) => ({
    id: `id-${number}`,
    host: `10.0.${number >> 8}.${number & 255}`,
    interval: 1,
}));
const ROUNDS = 5;

/** All brokers announce at the same moment, as they do when they were started together. */
describe('five hundred brokers in one burst a second', () => {
    let fleet;

    afterEach(() => fleet.close());

    async function hear(meanwhile) {
        fleet = await createFleet({ aliveTimeoutCorrection: 500 });
        const events = collect(fleet.manager);
        for (let round = 0; round < ROUNDS; round += 1) {
            const next = new Promise(resolve => setTimeout(resolve, 1000));
            await Promise.all(BROKERS.map(broker => fleet.sender.up(broker)));
            meanwhile();
            await next;
        }
        await fleet.fence();
        return events;
    }

    it.each([
        ['is idle', () => {}],
        ['is busy most of the time', () => spin(900)],
    ])('should all be kept, none of their datagrams lost, while JavaScript %s', async (_, work) => {
        const events = await hear(work);

        expect(events.filter(([event]) => event === 'add')).toHaveLength(BROKERS.length);
        expect(events).toHaveLength(BROKERS.length);
        const { kernelDrops, ups } = fleet.manager.stats();
        expect({ kernelDrops, ups }).toEqual({
            kernelDrops: 0,
            // The last one is the fence.
            ups: BROKERS.length * ROUNDS + 1,
        });
    }, 20_000);
});

/** Keeps the thread from everything else. */
function spin(ms) {
    const end = performance.now() + ms;
    while (performance.now() < end) {
        // That is all.
    }
}
