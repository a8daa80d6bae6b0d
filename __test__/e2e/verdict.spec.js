'use strict';

const { judge } = require('../../demo/verdict');

const KILLED = '127.0.0.1:1';
const OTHER = '127.0.0.1:2';
const DEATH = { broker: KILLED, at: 1000, evictedAt: { client: 2500, service: 2600 } };

const NEVER_HEARD = {};
const byKilled = { number: 1, broker: KILLED, routedAt: 1200 };
const byOther = { number: 1, broker: OTHER, routedAt: 1200 };
const answeredByKilled = { receivedAt: 1201, answeredBy: KILLED, answeredAt: 1202 };
const answeredByOther = { receivedAt: 1201, answeredBy: OTHER, answeredAt: 1202 };

test.each([
    ['a request given to the dead broker', byKilled, NEVER_HEARD],
    ['one that it refused', { ...byKilled, error: 'Connection is closed.' }, NEVER_HEARD],
    ['one that was inside it when it died', { ...byKilled, routedAt: 999 }, NEVER_HEARD],
])('%s is lost with it', (_, call, trace) => {
    expect(judge([call], [trace], DEATH)).toEqual({ requests: [call], answers: [], failed: [] });
});

test.each([
    ['given to the dead broker', answeredByKilled],
    ['that was inside it when it died', { ...answeredByKilled, answeredAt: 990 }],
])('an answer %s is lost with it', (_, trace) => {
    const verdict = judge([byOther], [trace], DEATH);

    expect(verdict).toEqual({ requests: [], answers: [byOther], failed: [] });
});

test('an answer is lost with it also where the client never heard that it had the request', () => {
    const call = { ...byKilled, routedAt: 999, error: 'Connection is closed.' };
    const verdict = judge([call], [{ ...answeredByKilled, answeredAt: 1000 }], DEATH);

    expect(verdict).toEqual({ requests: [], answers: [call], failed: [] });
});

test.each([
    ['never left the client', { number: 1 }, NEVER_HEARD],
    ['was given to a living broker and not received', byOther, NEVER_HEARD],
    ['was answered by a living broker', byKilled, answeredByOther],
    ['was received and not answered', byKilled, { receivedAt: 1201 }],
    ['was given to the broker long before its death', { ...byKilled, routedAt: 100 }, NEVER_HEARD],
    ['was given to the broker after its eviction', { ...byKilled, routedAt: 2501 }, NEVER_HEARD],
    ['got a wrong answer', { ...byOther, error: 'wrong answer: 3' }, answeredByKilled],
    ['got a wrong answer of the dead one', { ...byKilled, error: 'wrong answer: 3' }, answeredByKilled],
    ['has an error of another broker', { ...byOther, error: 'Connection is closed.' }, answeredByKilled],
    [
        'was answered by the broker after its eviction',
        byOther,
        { ...answeredByKilled, answeredAt: 2601 },
    ],
])('a call that %s has failed', (_, call, trace) => {
    const verdict = judge([call], [trace], DEATH);

    expect(verdict).toEqual({ requests: [], answers: [], failed: [{ ...call, ...trace }] });
});
