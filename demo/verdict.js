'use strict';

/** A message that was pushed so shortly before the death of its broker may still be inside it. */
const IN_FLIGHT_MS = 100;

/** What ioredis says of a command when its connection ended before the reply. */
const CLOSED = 'Connection is closed.';

/**
 * Tells the calls that were lost with a killed broker from those that failed.
 *
 * A call is lost with the broker only where both ends prove it: its request was given to that
 * broker and never reached the service, or its answer was given to it, and either happened when
 * the broker was dead, or about to die, and not evicted yet. That it had taken a request may not have
 * reached the client any more, which then has an error of it. Everything else has failed.
 *
 * @param {object[]} calls - those without an answer: `{ number, broker, routedAt, error }`
 * @param {object[]} traces - what the service knows of each:
 *     `{ receivedAt, answeredBy, answeredAt }`, empty where it never heard of it
 * @param {object} death - `{ broker, at, evictedAt: { client, service } }`
 * @returns {{ requests: object[], answers: object[], failed: object[] }}
 */
function judge(calls, traces, { broker, at, evictedAt }) {
    const verdict = { requests: [], answers: [], failed: [] };
    const deadAt = (moment, eviction) => moment >= at - IN_FLIGHT_MS && moment <= eviction;

    calls.forEach((call, index) => {
        const trace = traces[index];
        const requestAtRisk = call.broker === broker && deadAt(call.routedAt, evictedAt.client);
        const requestLost = trace.receivedAt === undefined && requestAtRisk;
        const unconfirmed = call.error === CLOSED && requestAtRisk;
        const answerLost = trace.answeredBy === broker
            && deadAt(trace.answeredAt, evictedAt.service);

        if (requestLost) {
            verdict.requests.push(call);
        } else if (answerLost && (call.error === undefined || unconfirmed)) {
            verdict.answers.push(call);
        } else {
            verdict.failed.push({ ...call, ...trace });
        }
    });
    return verdict;
}

exports.judge = judge;
