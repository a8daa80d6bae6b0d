'use strict';

const { DeliveryModel } = require('./delivery-model.js');
const { Explainer } = require('./explainer.js');
const { OriginalModel, readByOriginal } = require('./original-model.js');
const { playback } = require('./playback.js');
const { PROFILES } = require('./profiles.js');
const { RulesModel } = require('./rules-model.js');
const { print } = require('./told.js');
const { wireReason } = require('./wire-reason.js');

/** Judges what two managers told their clusters during a sequence. */
class Judge {
    #deliveries = [new DeliveryModel()];
    #events;
    #explainer;
    #observed;
    #original;
    #steps;

    /**
     * @param {import('./sequence.js').Sequence} sequence
     * @param {import('./trial.js').Observed} observed
     */
    constructor(sequence, observed) {
        const { correction } = observed;
        const { useAliveCheck } = PROFILES[sequence.profile];
        const original = new OriginalModel({ aliveTimeoutCorrection: correction, useAliveCheck });
        const rules = new RulesModel(PROFILES[sequence.profile], correction);
        const datagrams = sequence.steps.flatMap(step => step.datagrams);

        this.#steps = sequence.steps;
        this.#observed = observed;
        this.#original = playback(sequence, original, correction);
        this.#events = playback(sequence, rules, correction);
        this.#explainer = new Explainer(datagrams, original, rules);
    }

    /**
     * @returns {{ problem: string | undefined, differences: object[], predicted: object[] }} what
     *     is wrong, the differences between the two up to there, and what was to be expected
     */
    judge() {
        const differences = [];
        const predicted = [];

        for (const [index, step] of this.#steps.entries()) {
            const { problem, found, expected } = this.#judgeStep(step, index);

            predicted.push(expected);
            differences.push(...found.map(difference => ({ step: index, ...difference })));
            if (problem) {
                return { problem: `step ${index}: ${problem}`, differences, predicted };
            }
        }
        return { problem: undefined, differences, predicted };
    }

    #judgeStep({ datagrams }, index) {
        const theirs = this.#original.next().value;
        const events = this.#events.next().value;
        const undrained = this.#deliveries[0].deliverEach(events).told;
        const expected = { original: theirs.map(print), ours: undrained.map(print) };
        const told = this.#observed.ours[index].map(print);

        if (this.#observed.original[index].map(print).join() !== expected.original.join()) {
            return { problem: 'the original is not as its model', found: [], expected };
        }
        this.#deliveries = this.#deliveries.flatMap(
            delivery => delivery.deliveries(events, told, print),
        );
        if (this.#deliveries.length === 0) {
            return { problem: 'ours is not as the rules are', found: [], expected };
        }
        const ours = this.#observed.ours[index];
        const explained = this.#explainer.explain(theirs, ours, events, undrained);
        const found = [...explained, ...deathsOf(datagrams)];
        const inexplicable = explained.find(({ reasons }) => reasons.length === 0);
        const problem = inexplicable
            && `no rule makes this difference: ${inexplicable.side} ${print(inexplicable.told)}`;

        return { problem, found, expected };
    }
}

/** What the original was spared. */
function deathsOf(datagrams) {
    return datagrams.filter(isDeadly).map(
        bytes => ({ side: 'original', reasons: [wireReason(bytes)], follows: false }),
    );
}

/** Whether the original dies of this datagram. */
const isDeadly = bytes => readByOriginal(bytes) === undefined;

module.exports = { Judge, isDeadly };
