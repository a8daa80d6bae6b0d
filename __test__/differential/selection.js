'use strict';

const { DeliveryModel } = require('./delivery-model.js');
const { DIFFERENCES } = require('./differences.js');
const { Judge } = require('./judge.js');
const { OriginalModel } = require('./original-model.js');
const { playback } = require('./playback.js');
const { CORRECTION_MS, PROFILES } = require('./profiles.js');
const { countDifferences } = require('./report.js');
const { RulesModel } = require('./rules-model.js');
const { createSequence } = require('./sequence.js');

/** Each difference is in so many sequences at least. */
const OCCURRENCES = 2;

/** A difference that so many sequences do not have is one that the generator cannot make. */
const SEARCH_LIMIT = 20_000;

/**
 * Random sequences, and as many more as it takes for every documented difference to be in some of
 * them: which ones a sequence has, the models know beforehand.
 *
 * @param {string} seed
 * @param {number} count - how many, without those for the rare differences
 * @returns {import('./sequence.js').Sequence[]}
 */
function selectSequences(seed, count) {
    const numbered = number => createSequence(`${seed}/${number}`);
    const sequences = Array.from({ length: count }, (_, number) => numbered(number));
    const counts = countDifferences(sequences.map(foresee));
    const isRare = difference => (counts[difference] ?? 0) < OCCURRENCES;

    for (let number = count; Object.keys(DIFFERENCES).some(isRare); number += 1) {
        if (number > count + SEARCH_LIMIT) {
            throw new Error(`seed ${seed} makes no ${Object.keys(DIFFERENCES).filter(isRare)}`);
        }
        const sequence = numbered(number);
        const more = countDifferences([foresee(sequence)]);
        if (Object.keys(more).some(difference => difference in DIFFERENCES && isRare(difference))) {
            sequences.push(sequence);
            for (const difference of Object.keys(more)) {
                counts[difference] = (counts[difference] ?? 0) + 1;
            }
        }
    }
    return sequences;
}

/** The verdict if both managers are as their models, and every event is told by itself. */
function foresee(sequence) {
    const profile = PROFILES[sequence.profile];
    const { useAliveCheck } = profile;
    const original = new OriginalModel({ aliveTimeoutCorrection: CORRECTION_MS, useAliveCheck });
    const rules = new RulesModel(profile, CORRECTION_MS);
    let delivery = new DeliveryModel();

    return new Judge(sequence, {
        correction: CORRECTION_MS,
        original: [...playback(sequence, original, CORRECTION_MS)],
        ours: [...playback(sequence, rules, CORRECTION_MS)].map(events => {
            const { model, told } = delivery.deliverEach(events);
            delivery = model;
            return told;
        }),
    }).judge();
}

module.exports = { foresee, selectSequences };
