'use strict';

const { once } = require('node:events');

const { RustUDPClusterManager } = require('../index.js');
const { createLogger } = require('./helpers/harness.js');
const { Sender, freePort } = require('./helpers/udp.js');

/** What the log tells about the fleet as a whole; the lines about single faults have their own specs. */
describe('the log', () => {
    let logger;
    let manager;
    let port;
    let sender;

    beforeEach(async () => {
        logger = createLogger();
        port = await freePort();
        sender = new Sender(port);
        manager = new RustUDPClusterManager({ port, logger, aliveTimeoutCorrection: 200 });
        await once(manager, 'listening');
        logger.info.mockClear();
    });

    afterEach(async () => {
        await manager.destroy();
        sender.close();
    });

    const lines = level => logger[level].mock.calls.map(([line]) => line);

    /** Resolves with the next line of a level; what is logged comes before the events. */
    const nextLine = level => new Promise(resolve => {
        logger[level].mockImplementationOnce(resolve);
    });

    it('should say when the first broker is there, and not for the second', async () => {
        const line = nextLine('info');
        await sender.up({ id: 'a', host: '10.0.0.1' });
        expect(await line).toMatch(/there is a broker: imq-broker at 10\.0\.0\.1:6379, heard from 127/);

        const added = once(manager, 'add');
        await sender.up({ id: 'b', host: '10.0.0.2' });
        await added;
        expect(lines('info')).toHaveLength(1);
    });

    it('should say when the last broker leaves', async () => {
        await sender.up();
        await once(manager, 'add');

        const line = nextLine('warn');
        await sender.down();
        expect(await line).toMatch(/no broker is left: the last one, .* said that it leaves/);
    });

    it('should say when the last broker falls silent', async () => {
        const line = nextLine('warn');
        await sender.up({ interval: 0.1 });
        expect(await line).toMatch(/no broker is left: the last one, .* fell silent/);
    });

    it('should say once when nothing is heard, and what came instead', async () => {
        const line = nextLine('warn');
        await sender.send('what is this?');
        const started = performance.now();

        expect(await line).toMatch(
            new RegExp(`UDP 0\\.0\\.0\\.0:${port} within 15s: 1 datagrams came, 1 of them`),
        );
        expect(performance.now() - started).toBeGreaterThan(14_000);
        expect(lines('warn')).toHaveLength(1);

        const found = nextLine('info');
        await sender.up();
        expect(await found).toMatch(/there is a broker/);
        expect(lines('warn')).toHaveLength(1);
    });
});
