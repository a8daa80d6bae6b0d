'use strict';

const { print } = require('./told.js');

/** All there is to know about a sequence that failed, for whoever has to find out why. */
function describeFailure({ sequence, observed, predicted, problem, differences }) {
    const { seed, profile, steps } = sequence;
    const lines = steps.flatMap((step, index) => [
        `  step ${index}, then ${step.then}`,
        ...list('sent', step.datagrams.map(bytes => JSON.stringify(bytes.toString('latin1')))),
        ...['original', 'ours'].flatMap(side => [
            ...list(`${side} told`, observed[side][index].map(print)),
            ...list(`${side} expected`, predicted[index]?.[side] ?? ['(not judged)']),
        ]),
        ...list('difference', differences.filter(isOf(index)).map(describeDifference)),
    ]);
    return [
        `sequence ${seed} (profile ${profile}): ${problem}`,
        ...lines,
        `again: node __test__/differential/run.js --only ${seed}`,
    ].join('\n');
}

const isOf = index => ({ step }) => step === index;

const list = (title, lines) => lines.map(line => `    ${title.padEnd(18)}${line}`);

function describeDifference({ side, told, reasons, follows }) {
    const what = told ? print(told) : 'it was not sent';
    return `${side}: ${what} – ${follows ? 'after ' : ''}${reasons.join(', ') || 'no rule'}`;
}

/** How many verdicts had each difference; those that only follow from others are not counted. */
function countDifferences(verdicts) {
    const counts = {};
    for (const { differences } of verdicts) {
        const direct = differences.filter(({ follows }) => !follows);
        for (const reason of new Set(direct.flatMap(({ reasons }) => reasons))) {
            counts[reason] = (counts[reason] ?? 0) + 1;
        }
    }
    return counts;
}

module.exports = { countDifferences, describeFailure };
