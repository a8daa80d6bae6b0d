'use strict';

const { until } = require('./helpers/fleet.js');
const { createLogger } = require('./helpers/harness.js');
const { Sender, freePort } = require('./helpers/udp.js');

/** Jest evaluates modules anew, while the native library below them stays the same. */
describe('the package loaded several times', () => {
    function load() {
        let facade;
        jest.isolateModules(() => {
            facade = require('../index.js');
        });
        return facade;
    }

    it('should listen in each copy, and end in one without harm to the other', async () => {
        const port = await freePort();
        const sender = new Sender(port);
        const copies = [load(), load()];
        expect(copies[0].RustUDPClusterManager).not.toBe(copies[1].RustUDPClusterManager);

        const [first, second] = copies.map(({ RustUDPClusterManager }) => {
            return new RustUDPClusterManager({ port, logger: createLogger() });
        });
        const added = [until(first, 'add'), until(second, 'add')];
        await Promise.all([until(first, 'listening'), until(second, 'listening')]);
        await sender.up();
        await Promise.all(added);

        await first.destroy();
        const removed = until(second, 'remove');
        await sender.down();
        await removed;

        await second.destroy();
        sender.close();
    });
});
