'use strict';

const { onLinux } = require('../helpers/unless.js');
const { DIFFERENCES, DRAIN } = require('./differences.js');
const { Subject } = require('./subject.js');
const { countDifferences, describeFailure } = require('./report.js');
const { runCampaign } = require('./campaign.js');
const { foresee, selectSequences } = require('./selection.js');
const { createSequence } = require('./sequence.js');

const SEQUENCES = 200;

/** The same for everybody: whether a change lands is not for chance to say. `run.js` draws others. */
const SEED = '2026';

/** So many take some seconds, since none is sent. */
const FORESEEN = 4000;

/** Found by chance: each has a difference of a kind that the explainer had no rule for. */
const ONCE_INEXPLICABLE = [
    '1796030027546/7', '77/6786', 'v/1230', 'w/7440', 'x/92292', 'x/139869',
];

const itOnLinux = onLinux('stopped processes are watched through /proc', it);

describe('the manager and the one of @imqueue/core 2.0.26', () => {
    itOnLinux('should differ in what they tell a cluster only as documented', async () => {
        console.info(`node __test__/differential/run.js --seed ${SEED} --sequences ${SEQUENCES}`);

        const verdicts = await runCampaign([
            ...selectSequences(SEED, SEQUENCES),
            ...ONCE_INEXPLICABLE.map(createSequence),
        ]);
        const failures = verdicts.filter(({ problem }) => problem);
        const found = countDifferences(verdicts);
        const known = [...Object.keys(DIFFERENCES), DRAIN];

        expect(failures.map(describeFailure).join('\n\n')).toBe('');
        expect(verdicts.length).toBeGreaterThanOrEqual(SEQUENCES);
        expect(Object.keys(DIFFERENCES).filter(difference => !found[difference])).toEqual([]);
        expect(Object.keys(found).filter(difference => !known.includes(difference))).toEqual([]);
        expect(verdicts.some(({ differences }) => differences.length === 0)).toBe(true);
    }, 600_000);

    it('should by their models differ only as documented', () => {
        const numbered = Array.from({ length: FORESEEN }, (_, number) => `${SEED}/${number}`);
        const failures = [...numbered, ...ONCE_INEXPLICABLE].map(createSequence)
            .map(sequence => ({ seed: sequence.seed, problem: foresee(sequence).problem }))
            .filter(({ problem }) => problem);

        expect(failures).toEqual([]);
    }, 60_000);

    describe.each(['', 'x', 'imq-broker\tguid-1', '{"type":"up"}'])('sent %j', content => {
        let subject;

        afterEach(() => subject.kill());

        it('should kill the original', async () => {
            subject = new Subject('original');
            const lane = await subject.open({});
            await lane.send(content);

            expect(await subject.died()).toContain("reading 'toLowerCase'");
        });

        it('should leave ours as it is', async () => {
            subject = new Subject('ours');
            const lane = await subject.open({});
            await lane.send(content);
            await lane.sync();

            expect(lane.take()).toEqual([]);
        });
    });
});
