'use strict';

const fixtures = require('./fixtures/datagrams.json');
const { collect, createFleet } = require('./helpers/fleet.js');

const sum = group => Object.values(group).reduce((total, count) => total + count, 0);

/** The table that also drives the parser's tests, here through a socket and up to the events. */
describe('every datagram of the fixtures', () => {
    let fleet;
    let events;

    beforeEach(async () => {
        fleet = await createFleet();
        events = collect(fleet.manager);
    });

    afterEach(() => fleet.close());

    const send = ({ hex }) => fleet.sender.send(Buffer.from(hex, 'hex'));
    const accepted = fixtures.filter(({ expected }) => expected !== null);

    it.each(fixtures.filter(({ expected }) => expected === null))(
        'should be rejected and counted: $title',
        async fixture => {
            await send(fixture);
            await fleet.fence();

            expect(events).toEqual([]);
            expect(sum(fleet.manager.stats().rejected)).toBe(1);
        },
    );

    it.each(accepted.filter(({ expected }) => expected.type === 'up'))(
        'should add its broker: $title',
        async fixture => {
            const { intervalMs, ...server } = fixture.expected;
            await send(fixture);
            await fleet.fence();

            expect(events).toEqual([['add', { ...server, timeout: intervalMs }]]);
            expect(sum(fleet.manager.stats().rejected)).toBe(0);
        },
    );

    it.each(accepted.filter(({ expected }) => expected.type === 'down'))(
        'should remove its broker: $title',
        async fixture => {
            const { name, id, host, port } = fixture.expected;
            await fleet.sender.up({ name, id, host, port });
            await fleet.fence();
            await send(fixture);
            await fleet.fence();

            const broker = { name, id, host, port, timeout: 1000 };
            expect(events).toEqual([
                ['add', { ...broker, type: 'up' }],
                ['remove', { ...broker, type: 'down' }],
            ]);
            expect(sum(fleet.manager.stats().rejected)).toBe(0);
        },
    );
});
