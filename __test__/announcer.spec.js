'use strict';

const { Announcer } = require('../index.js');
const { createFleet, until } = require('./helpers/fleet.js');
const { createLogger } = require('./helpers/harness.js');
const { Receiver } = require('./helpers/udp.js');

describe('a started Announcer', () => {
    let receiver;
    let announcer;

    beforeEach(async () => {
        receiver = await new Receiver().bind();
    });

    afterEach(async () => {
        await announcer?.stop();
        receiver.close();
    });

    function announce(options) {
        announcer = new Announcer({
            host: '10.0.0.1',
            port: 6379,
            id: 'id-1',
            destinations: [`127.0.0.1:${receiver.port}`],
            logger: createLogger(),
            ...options,
        });
        return announcer.start();
    }

    it('should say up at once and then once an interval', async () => {
        const started = performance.now();
        await announce({ interval: 0.1 });

        await receiver.received(4);
        expect(new Set(receiver.messages)).toEqual(
            new Set(['imq-broker\tid-1\tup\t10.0.0.1:6379\t0.1']),
        );
        expect(performance.now() - started).toBeGreaterThanOrEqual(295);
    });

    it('should say down last', async () => {
        await announce({ interval: 0.02 });
        await receiver.received(3);
        await announcer.stop();

        while (!receiver.messages.at(-1).includes('down')) {
            await receiver.received(receiver.messages.length + 1);
        }
        const { length } = receiver.messages;
        // A sleep to prove that nothing follows: five intervals.
        await new Promise(resolve => setTimeout(resolve, 100));

        expect(receiver.messages.at(-1)).toBe('imq-broker\tid-1\tdown\t10.0.0.1:6379');
        const last = receiver.messages.slice(length);
        expect(last.filter(message => message.includes('up'))).toEqual([]);
    });

    it('should name its transport, and put IPv6 in brackets', async () => {
        await announce({ host: 'fd00::1', transport: 'tls', name: 'test' });
        await receiver.received(1);

        expect(receiver.messages[0]).toBe('test\tid-1\tup\t[fd00::1]:6379\t1\ttls');
    });

    it('should begin anew after stop, with the same id', async () => {
        await announce();
        await receiver.received(1);
        await announcer.stop();
        await receiver.received(4);

        const { length } = receiver.messages;
        await announcer.start();
        await receiver.received(length + 1);
        expect(receiver.messages.at(-1)).toBe(receiver.messages[0]);
    });

    it.each(['0.0.0.0', '255.255.255.255', '224.0.0.1', '::'])(
        'should refuse to announce %s',
        async host => {
            await expect(announce({ host })).rejects.toThrow(RangeError);
        },
    );

    it('should resolve start and log where it cannot send', async () => {
        const logger = createLogger();
        await announce({ destinations: ['nobody.invalid'], logger });

        expect(logger.warn).toHaveBeenCalledWith(expect.stringContaining('nobody.invalid'));
    });

    it('should be found by a manager', async () => {
        const fleet = await createFleet();
        const added = until(fleet.manager, 'add');
        const removed = until(fleet.manager, 'remove');

        await announce({ destinations: [`127.255.255.255:${fleet.port}`], transport: 'plain' });
        const server = { id: 'id-1', name: 'imq-broker', host: '10.0.0.1', port: 6379 };
        expect(await added).toEqual([
            { ...server, type: 'up', timeout: 1000, transport: 'plain' },
        ]);

        await announcer.stop();
        expect(await removed).toEqual([expect.objectContaining({ ...server, type: 'down' })]);
        await fleet.close();
    });
});
