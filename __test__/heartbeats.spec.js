'use strict';

const { collect, createFleet } = require('./helpers/fleet.js');

describe('heartbeats of known brokers', () => {
    let fleet;

    beforeEach(async () => {
        fleet = await createFleet();
    });

    afterEach(() => fleet.close());

    it('should not wake JavaScript', async () => {
        const brokers = Array.from({ length: 10 }, (_, index) => ({
            id: `id-${index}`,
            host: `10.0.0.${index}`,
            interval: 60,
        }));
        for (const broker of brokers) {
            await fleet.sender.up(broker);
        }
        await fleet.fence();
        const events = collect(fleet.manager);
        const before = fleet.manager.stats();

        for (let round = 0; round < 100; round += 1) {
            await Promise.all(brokers.map(broker => fleet.sender.up(broker)));
            await heard(before.ups + (round + 1) * brokers.length);
        }

        const after = fleet.manager.stats();
        expect(after.ups - before.ups).toBe(1000);
        expect(after.wakeups - before.wakeups).toBe(0);
        expect(events).toEqual([]);
    });

    /** Looks at the counters instead of waiting for an event: there must not be any. */
    async function heard(ups) {
        while (fleet.manager.stats().ups < ups) {
            await new Promise(resolve => setImmediate(resolve));
        }
    }

    it('should renew what is shown of a broker', async () => {
        await fleet.sender.up();
        await fleet.fence();
        const [{ lastSeen }] = fleet.manager.servers;
        // A sleep to tell two moments apart.
        await new Promise(resolve => setTimeout(resolve, 20));

        await fleet.sender.up();
        await fleet.fence();

        const broker = fleet.manager.servers.find(({ guid }) => guid === 'id-1');
        expect(broker.lastSeen).toBeGreaterThan(lastSeen);
    });
});
