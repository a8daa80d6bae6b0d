'use strict';

const { SCENARIOS } = require('./scenarios.js');
const { Stage } = require('./runner.js');
const { unless } = require('../helpers/unless.js');
const { findNode } = require('../../scripts/nodes.js');

const NODES = [20, 22, 24, 26];
/** Each in different circumstances. `npm run life` is for the rare ones. */
const RUNS = 10;

/** The same for everybody: whether a change lands is not for chance to say. */
const SEED = 2026;

/** The other programs have their own ways to end there, too. */
const onPosix = unless(process.platform === 'win32' && 'Windows has no signals', describe);

onPosix('while 2,000 new brokers a second are announced', () => {
    let stage;

    beforeAll(() => {
        stage = new Stage(4);
    });

    afterAll(() => stage.close());

    NODES.forEach(major => {
        const node = findNode(major);
        // `npm test` installs those that are missing, beside the one that it runs on.
        const describeGiven = unless(!node && 'it is not installed', describe);

        describeGiven(`on Node.js ${major}`, () => {
            it.each(Object.keys(SCENARIOS))('%s should end as asked', async scenario => {
                expect(await stage.run(scenario, { node, runs: RUNS, seed: SEED })).toEqual([]);
            }, 150_000);
        });
    });
});
