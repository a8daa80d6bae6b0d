'use strict';

/**
 * How the managers of a sequence are set up, and the times that go with it.
 *
 * Time passes in a sequence in two ways only: within a *window* none that matters, and at its end a
 * *lapse*, in which everything short expires and nothing long does. The deadlines of a window keep
 * their order whatever the machine does, since the intervals in it only grow. A window that took
 * longer than {@link windowLimit} is not judged but tried again, with all deadlines further away.
 * So no verdict hangs on how fast the machine is.
 */

/** What has to be left between the end of a window and its earliest deadline. */
const MARGIN_MS = 100;

/** How long a late `up` is ignored (rule 8). A lapse is longer. */
const LATE_MS = 1000;

/** The `aliveTimeoutCorrection` of the first attempt, in ms: above {@link LATE_MS}, for lapses. */
const CORRECTION_MS = 1000;

/** In seconds: outlives any sequence. */
const LONG = 300;

const PROFILES = {
    // Interval 0 is what an `up` has that does not tell its interval.
    usual: createProfile({ weight: 66 }),
    unjudged: createProfile({ weight: 8, useAliveCheck: false }),
    full: createProfile({ weight: 14, maxServers: 2 }),
    named: createProfile({ weight: 10, names: ['imq-broker'] }),
    // Stops both processes, so that it needs a pair of its own. After it only a grace of their
    // interval is left to brokers, hence the longer ones.
    suspended: createProfile({
        weight: 10,
        suspends: true,
        shorts: [2, 2.1, 2.2, 2.3, 2.4],
        lapse: 2.5,
    }),
};

/**
 * @typedef {object} Profile
 * @property {number} weight - how often it is chosen
 * @property {boolean} useAliveCheck - the option, for both managers
 * @property {number} maxServers - the option, for ours: the original has no limit
 * @property {string[] | null} names - the option `name`, for ours: the original has none
 * @property {boolean} suspends - whether both processes are stopped once
 * @property {number[]} shorts - intervals in seconds that expire in a lapse
 * @property {number} lapse - in seconds: the interval of the broker whose end ends a lapse
 */
function createProfile(profile) {
    return {
        useAliveCheck: true,
        maxServers: Infinity,
        names: null,
        suspends: false,
        shorts: [0, 0.1, 0.2, 0.3, 0.4],
        lapse: 0.5,
        ...profile,
    };
}

/** How long an endpoint lives that is heard once, in ms. */
const lifetime = (interval, correction) => interval * 1000 + correction + 1;

/** How long both are stopped: everything short has expired then. */
const suspensionOf = ({ lapse }, correction) => lifetime(lapse, correction) + MARGIN_MS;

/** How long a window may take, in ms. */
function windowLimit({ shorts, suspends }, correction) {
    return lifetime(shorts[0], suspends ? 0 : correction) - MARGIN_MS;
}

/** How long one may take in which rule 8 has ignored something. */
const LATE_WINDOW_MS = LATE_MS - MARGIN_MS;

module.exports = {
    CORRECTION_MS,
    LATE_MS,
    LATE_WINDOW_MS,
    LONG,
    PROFILES,
    lifetime,
    suspensionOf,
    windowLimit,
};
