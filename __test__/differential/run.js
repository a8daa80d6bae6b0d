'use strict';

// Compares the manager with the original, as __test__/differential/differential.spec.js does, with
// any number of sequences:
//
//     node __test__/differential/run.js --sequences 5000 --seed 42
//     node __test__/differential/run.js --only 42/17

const { parseArgs } = require('node:util');

const { runCampaign } = require('./campaign.js');
const { DIFFERENCES, DRAIN } = require('./differences.js');
const { countDifferences, describeFailure } = require('./report.js');
const { selectSequences } = require('./selection.js');
const { createSequence } = require('./sequence.js');

/** A line tells of every so many sequences. */
const PROGRESS = 250;

main().catch(error => {
    console.error(error);
    process.exitCode = 1;
});

async function main() {
    const { values: { only, seed, sequences: count } } = parseArgs({
        options: {
            only: { type: 'string' },
            seed: { type: 'string', default: String(Date.now()) },
            sequences: { type: 'string', default: '200' },
        },
    });
    const sequences = only ? [createSequence(only)] : selectSequences(seed, Number(count));
    const started = Date.now();
    console.log(only ? `sequence ${only}` : `seed ${seed}, ${sequences.length} sequences`);

    let done = 0;
    const verdicts = await runCampaign(sequences, verdict => {
        done += 1;
        if (verdict.problem || only) {
            console.log(describeFailure(verdict));
        }
        if (done % PROGRESS === 0) {
            console.log(`${done} done`);
        }
    });
    summarize(verdicts, Date.now() - started);
}

function summarize(verdicts, ms) {
    const failed = verdicts.filter(({ problem }) => problem).length;
    const equal = verdicts.filter(({ differences }) => differences.length === 0).length;
    const retries = verdicts.reduce((sum, verdict) => sum + verdict.retries, 0);
    const counts = countDifferences(verdicts);

    for (const difference of [...Object.keys(DIFFERENCES), DRAIN]) {
        console.log(`${String(counts[difference] ?? 0).padStart(6)} had ${difference}`);
    }
    console.log(`${verdicts.length} sequences in ${(ms / 1000).toFixed(1)} s, ${failed} failed, `
        + `${equal} without any difference, ${retries} attempts were too slow`);
    process.exitCode = failed > 0 ? 1 : 0;
}
