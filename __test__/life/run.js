'use strict';

// `npm run life -- --runs 300 --nodes 20,22,24,26 --seed 1`: every scenario so many times on each
// version of Node.js, which is installed if need be. Prints how many ended as they had to. With
// `--scenario NAME` only that one.

const { availableParallelism } = require('node:os');
const { parseArgs } = require('node:util');

const { SCENARIOS } = require('./scenarios.js');
const { Stage } = require('./runner.js');
const { ensureNode } = require('../../scripts/nodes.js');

/** How many failures of a scenario are shown. */
const SHOWN = 5;

const { values } = parseArgs({
    options: {
        nodes: { type: 'string', default: '20,22,24,26' },
        runs: { type: 'string', default: '300' },
        scenario: { type: 'string', multiple: true, default: Object.keys(SCENARIOS) },
        seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    },
});

main();

async function main() {
    const runs = Number(values.runs);
    const seed = Number(values.seed);
    console.log(`${runs} runs each, seed ${seed}`);

    for (const major of values.nodes.split(',').map(Number)) {
        const node = ensureNode(major);
        for (const scenario of values.scenario) {
            const stage = new Stage(2 * availableParallelism());
            const start = performance.now();
            const failures = await stage.run(scenario, { node, runs, seed });
            const seconds = (performance.now() - start) / 1000;
            const rate = await stage.close();

            failures.slice(0, SHOWN).forEach(failure => console.error(failure));
            process.exitCode ||= failures.length > 0 ? 1 : 0;
            console.log([
                `Node.js ${major}`.padEnd(12),
                scenario.padEnd(28),
                `${runs - failures.length} of ${runs}`.padStart(11),
                `${seconds.toFixed(1)} s`.padStart(9),
                `${rate.toFixed()} announcements/s`.padStart(22),
            ].join(''));
        }
    }
}
