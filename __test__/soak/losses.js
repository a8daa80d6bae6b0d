'use strict';

/** A message that was pushed so shortly before the death of its broker may still be inside it. */
const IN_FLIGHT_MS = 200;

/**
 * Tells the calls that were lost with a killed broker, which @imqueue/core gives messages to until
 * it is evicted, from those that nothing explains.
 *
 * @param {object[]} calls - without an answer: `{ number, broker, routedAt }`
 * @param {object[]} traces - what the service knows of each: `{ receivedAt, answeredBy, answeredAt }`
 * @param {object[]} deaths - of brokers: `{ endpoint, at }`
 * @param {number} span - for so many ms after its death a broker is given messages
 * @returns {{ explained: number, failed: object[] }}
 */
function judgeLosses(calls, traces, deaths, span) {
    const inDead = (broker, moment) => deaths.some(({ endpoint, at }) => endpoint === broker
        && moment >= at - IN_FLIGHT_MS
        && moment <= at + span);
    const failed = calls
        .map((call, index) => ({ ...call, ...traces[index] }))
        .filter(({ broker, routedAt, receivedAt, answeredBy, answeredAt }) => {
            const requestLost = receivedAt === undefined && inDead(broker, routedAt);
            return !requestLost && !inDead(answeredBy, answeredAt);
        });

    return { explained: calls.length - failed.length, failed };
}

exports.judgeLosses = judgeLosses;
