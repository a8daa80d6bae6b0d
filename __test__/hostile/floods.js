'use strict';

// The floods, and what a manager must make of each.

const sum = counters => Object.values(counters).reduce((total, count) => total + count, 0);

/**
 * Per kind: what it is, and how many datagrams are in the counters that it is to show up in. The
 * announcements of the real brokers are among the `ups`.
 */
const FLOODS = {
    'garbage': {
        what: 'nothing that can be read',
        counted: ({ rejected }) => sum(rejected),
    },
    'pairs-of-many': {
        what: 'up and down at one address, each pair with another guid',
        counted: ({ added, ignored, removed, updated }) => added + removed + updated + sum(ignored),
    },
    'pairs-of-one': {
        what: 'up and down at one address with one guid (rules 7 and 8)',
        counted: ({ ignored }) => ignored.lateUp + ignored.endpointUnknown,
    },
    'unknown-down': {
        what: 'down at the address of a real broker with a guid that is not its own (rule 7)',
        counted: ({ ignored }) => ignored.notOwner,
    },
    'elsewhere-down': {
        what: 'down with the guid of a real broker at an address that is not its own (rule 7)',
        counted: ({ ignored }) => ignored.endpointUnknown,
    },
    'usurped': {
        what: 'up at the address of a real broker, each with another guid (rule 3)',
        counted: ({ updated }) => updated,
    },
    'invented': {
        what: 'up of brokers that do not exist, each with a guid and an address of its own (rule 10)',
        counted: ({ added, ignored }) => added + ignored.fleetFull,
    },
};

const MAX_DELAY_MS = 20;
const MAX_GROWTH_MB = 10;

/**
 * What was wrong in a flood, as lines.
 *
 * @param {object} flood - as `Siege.flood` tells of it
 * @param {object} idle - as `Siege.idle` told before, once the process was warm. A machine that is
 *     too busy for an idle process to be on time is no reason to blame the flood
 * @param {number} tolerance - how many datagrams more or less there may be
 */
function judge(flood, idle, tolerance) {
    const { delay, kind, lines, lost, memory, missing, stats } = flood;
    const maxDelay = Math.max(MAX_DELAY_MS, 3 * idle.delay.p99);
    const { datagrams, ups, downs, rejected } = stats;
    const uncounted = flood.sent - stats.kernelDrops - FLOODS[kind].counted(stats);
    const faults = {
        'real brokers were removed': lost.length > 0,
        'the event loop was late': delay.p99 > maxDelay,
        'it needs more memory': memory - idle.memory > MAX_GROWTH_MB,
        'it logs too much': repeated(lines).length > 0,
        'datagrams are in no counter': Math.abs(missing) > tolerance,
        'not every datagram was judged': datagrams !== ups + downs + sum(rejected),
        'it is not counted as what it is': uncounted > tolerance,
    };

    return Object.keys(faults).filter(fault => faults[fault]);
}

/** Lines that differ in nothing but the broker and the numbers. */
function repeated(lines) {
    const causes = lines.map(line => line.replace(/[\w-]*\d[\w.:-]*/g, '#'));
    return causes.filter((cause, place) => causes.indexOf(cause) !== place);
}

module.exports = { FLOODS, judge };
