'use strict';

const { playback } = require('./playback.js');
const { LATE_WINDOW_MS, PROFILES, windowLimit } = require('./profiles.js');
const { RulesModel } = require('./rules-model.js');

/**
 * Whether the machine was too busy to keep the datagrams away from the deadlines: then what the
 * clusters were told says nothing.
 *
 * @param {import('./sequence.js').Sequence} sequence
 * @param {import('./trial.js').Observed} observed
 */
function wasTooSlow(sequence, { times, correction }) {
    const profile = PROFILES[sequence.profile];
    const rules = new RulesModel(profile, correction);
    const steps = playback(sequence, rules, correction);
    const limit = windowLimit(profile, correction);
    const limits = [limit];

    for (const { then } of sequence.steps) {
        const before = rules.verdicts.length;

        if (then === 'suspend') {
            limits.push(limit);
        }
        steps.next();
        if (rules.verdicts.slice(before).some(({ rule }) => rule === 8)) {
            limits.push(Math.min(limits.pop(), LATE_WINDOW_MS));
        }
        if (then === 'lapse') {
            limits.push(limit);
        }
    }
    return times.some((time, window) => time > limits[window]);
}

exports.wasTooSlow = wasTooSlow;
