'use strict';

const { createFleet, until } = require('./helpers/fleet.js');

/** More than is delivered in one turn of the event loop. */
const MANY = 700;

describe('more news than one turn of the event loop takes', () => {
    let fleet;

    beforeEach(async () => {
        fleet = await createFleet();
    });

    afterEach(() => fleet.close());

    /**
     * Has everything sent and read that is on its way, without a turn of the event loop in which
     * any of it could be delivered.
     */
    const hasBeenRead = async () => {
        for (let count = 0; count < 3; count += 1) {
            await new Promise(process.nextTick);
        }
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    };

    it('should not hide what comes before the last of it is delivered', async () => {
        const first = until(fleet.manager, 'add');
        const early = until(fleet.manager, 'remove', ({ id }) => id === 'id-0');
        const late = until(fleet.manager, 'add', ({ id }) => id === 'late');

        for (let number = 0; number < MANY; number += 1) {
            const host = `10.0.${number >> 8}.${number & 255}`;
            fleet.sender.up({ id: `id-${number}`, host, interval: 60 });
        }
        await hasBeenRead();
        await first;
        expect(fleet.manager.servers.length).toBeLessThan(MANY);
        fleet.sender.up({ id: 'late', host: '10.1.0.1', interval: 60 });
        fleet.sender.down({ id: 'id-0', host: '10.0.0.0' });
        await hasBeenRead();

        await early;
        await late;
        expect(fleet.manager.servers).toHaveLength(MANY);
    });
});
