'use strict';

const { createFleet, until } = require('../helpers/fleet.js');

describe('lastSeen', () => {
    it('should never be later than now', async () => {
        const fleet = await createFleet();
        try {
            // Read as soon as a broker is heard: a time that is rounded up would be in the future.
            for (let port = 1; port <= 200; port += 1) {
                const added = until(fleet.manager, 'add', server => server.port === port);
                await fleet.sender.up({ id: `id-${port}`, port, interval: 600 });
                await added;
                const { lastSeen } = fleet.manager.servers.find(server => server.port === port);
                expect(Date.now() - lastSeen).toBeGreaterThanOrEqual(0);
            }
        } finally {
            await fleet.close();
        }
    });
});
