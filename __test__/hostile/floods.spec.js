'use strict';

const { judge } = require('./floods.js');

const TOLERANCE = 10;
const IDLE = { delay: { p99: 1 }, memory: 50 };

/** A flood of which nothing is wrong. */
function aFlood({ stats, ...more } = {}) {
    return {
        kind: 'garbage',
        sent: 1000,
        delay: { p99: 2 },
        memory: 52,
        lines: ['a: one', 'b: one'],
        lost: [],
        missing: 0,
        stats: {
            datagrams: 1003,
            ups: 3,
            downs: 0,
            kernelDrops: 0,
            rejected: { fields: 400, name: 600 },
            ...stats,
        },
        ...more,
    };
}

describe('the judge of floods', () => {
    it('should find no fault with one that did no harm', () => {
        expect(judge(aFlood(), IDLE, TOLERANCE)).toEqual([]);
    });

    it('should not blame the flood for a machine that is busy', () => {
        const idle = { ...IDLE, delay: { p99: 15 } };
        expect(judge(aFlood({ delay: { p99: 40 } }), idle, TOLERANCE)).toEqual([]);
    });

    it.each([
        ['a broker that was removed', { lost: [{}] }, 'real brokers were removed'],
        ['a late event loop', { delay: { p99: 21 } }, 'the event loop was late'],
        ['growth', { memory: 61 }, 'it needs more memory'],
        ['a line too much', { lines: ['id-1 at 10.0.0.1:1 left', 'id-2 at 10.0.0.2:2 left'] },
            'it logs too much'],
        ['datagrams that are nowhere', { missing: 11 }, 'datagrams are in no counter'],
        ['datagrams that were not judged', { stats: { datagrams: 1004 } },
            'not every datagram was judged'],
        ['datagrams that were judged wrongly',
            { stats: { ups: 14, rejected: { fields: 389, name: 600 } } },
            'it is not counted as what it is'],
    ])('should find %s', (_, wrong, fault) => {
        expect(judge(aFlood(wrong), IDLE, TOLERANCE)).toEqual([fault]);
    });
});
