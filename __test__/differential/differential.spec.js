'use strict';

const { onLinux } = require('../helpers/unless.js');
const { DIFFERENCES, DRAIN } = require('./differences.js');
const { Subject } = require('./subject.js');
const { countDifferences, describeFailure } = require('./report.js');
const { runCampaign } = require('./campaign.js');
const { selectSequences } = require('./selection.js');

const SEQUENCES = 200;

const itOnLinux = onLinux('stopped processes are watched through /proc', it);

describe('the manager and the one of @imqueue/core 2.0.26', () => {
    itOnLinux('should differ in what they tell a cluster only as documented', async () => {
        const seed = String(Date.now());
        console.info(`node __test__/differential/run.js --seed ${seed} --sequences ${SEQUENCES}`);

        const verdicts = await runCampaign(selectSequences(seed, SEQUENCES));
        const failures = verdicts.filter(({ problem }) => problem);
        const found = countDifferences(verdicts);
        const known = [...Object.keys(DIFFERENCES), DRAIN];

        expect(failures.map(describeFailure).join('\n\n')).toBe('');
        expect(verdicts.length).toBeGreaterThanOrEqual(SEQUENCES);
        expect(Object.keys(DIFFERENCES).filter(difference => !found[difference])).toEqual([]);
        expect(Object.keys(found).filter(difference => !known.includes(difference))).toEqual([]);
        expect(verdicts.some(({ differences }) => differences.length === 0)).toBe(true);
    }, 600_000);

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
