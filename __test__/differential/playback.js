'use strict';

const { PROFILES, lifetime, suspensionOf } = require('./profiles.js');

/**
 * Plays a sequence to a model, in virtual time.
 *
 * @param {import('./sequence.js').Sequence} sequence
 * @param {object} model - of the original or of the rules
 * @param {number} correction - `aliveTimeoutCorrection` in ms
 * @yields {object[]} what came of each step
 */
function* playback({ profile: name, steps }, model, correction) {
    const profile = PROFILES[name];
    let first = 0;

    for (const { datagrams, then } of steps) {
        const start = first;
        const read = () => datagrams.flatMap((bytes, index) => model.handle(bytes, start + index));

        first += datagrams.length;
        if (then === 'suspend') {
            yield model.suspend(suspensionOf(profile, correction), read);
        } else if (then === 'lapse') {
            yield [...read(), ...model.advance(lifetime(profile.lapse, correction))];
        } else {
            yield read();
        }
    }
}

exports.playback = playback;
