'use strict';

const { randomBytes } = require('node:crypto');

const { collect, createFleet } = require('./helpers/fleet.js');
const { datagram } = require('./helpers/udp.js');

const BROKER = { id: 'id-1', host: '10.0.0.1', port: 6379, interval: 0.2 };
const UP = datagram(BROKER);

const FOREIGN = [
    ['nothing', ''],
    ['tabs', '\t'.repeat(40)],
    ['zeros', Buffer.alloc(100)],
    ['the longest datagram there is', randomBytes(65_507)],
    ['an announcement that goes on', Buffer.concat([Buffer.from(UP), randomBytes(60_000)])],
    ['an announcement with a byte order mark', `\uFEFF${UP}\uFEFF`],
    ['invalid UTF-8 in the address', Buffer.from(UP.replace('10.0', '\xFF.0'), 'latin1')],
    ['a zero in the guid', UP.replace('id-1', 'id\0')],
    ['a query of mDNS', Buffer.from('00000000000100000000000005' + '5f68747470', 'hex')],
    ['a request of HTTP', 'GET / HTTP/1.1\r\nHost: 10.0.0.1:6379\r\n\r\n'],
    ['a scan for SNMP', Buffer.from('302902010004067075626c6963a01c', 'hex')],
    ['half an announcement', UP.slice(0, UP.length / 2)],
];

describe('datagrams of other programs', () => {
    let fleet;
    let events;

    beforeEach(async () => {
        fleet = await createFleet({ aliveTimeoutCorrection: 500 });
        events = collect(fleet.manager);
        await fleet.sender.up(BROKER);
        await fleet.fence();
    });

    afterEach(() => fleet.close());

    const rejected = () => Object.values(fleet.manager.stats().rejected)
        .reduce((total, count) => total + count);

    it.each(FOREIGN)('should be counted and change nothing: %s', async (_, content) => {
        await fleet.sender.send(content);
        await fleet.fence();

        expect(events).toHaveLength(1);
        expect(rejected()).toBe(1);
    });

    it('should not keep brokers from being heard, a thousand a second', async () => {
        const SECONDS = 3;
        for (let round = 0; round < SECONDS * 10; round += 1) {
            const next = new Promise(resolve => setTimeout(resolve, 100));
            for (let count = 0; count < 100; count += 1) {
                await fleet.sender.send(mutated(round * 100 + count));
            }
            await fleet.sender.up(BROKER);
            await next;
        }
        await fleet.fence();

        expect(events).toHaveLength(1);
        expect(rejected()).toBe(SECONDS * 1000);
        expect(fleet.manager.stats().kernelDrops).toBe(0);
        expect(fleet.logger.warn).not.toHaveBeenCalled();
        expect(fleet.logger.error).not.toHaveBeenCalled();
    }, 20_000);
});

/** An announcement with one byte in it that must not be there. */
function mutated(number) {
    const content = Buffer.from(UP);
    content[number % content.length] = number % 2 === 0 ? 0x00 : 0x1F;
    return content;
}
