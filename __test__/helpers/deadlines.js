'use strict';

/**
 * When each broker that a listener knows was last heard, by id, in ms on the monotonic clock: not
 * later than it was, whatever kept the listener from reading the wall clock in between.
 */
async function lastHeard(listener) {
    const { monotonic, now, servers } = await listener.ask('servers');
    return new Map(servers.map(({ guid, lastSeen }) => [guid, monotonic - (now - lastSeen)]));
}

/**
 * How many ms after its deadline each broker was removed.
 *
 * @param {object[]} removes - lines of the listener
 * @param {Map<string, number>} heard - when they were last heard
 * @param {number} patience - ms from then to the deadline
 */
function lateness(removes, heard, patience) {
    // The wall clock tells whole milliseconds.
    const roundingMs = 2;
    return removes
        .map(({ at, id }) => at - heard.get(id) - patience)
        .map(late => (Math.abs(late) <= roundingMs ? 0 : late));
}

/** What half of the numbers are below: a busy machine does not move it. */
function median(numbers) {
    return [...numbers].sort((a, b) => a - b)[numbers.length >> 1];
}

module.exports = { lastHeard, lateness, median };
