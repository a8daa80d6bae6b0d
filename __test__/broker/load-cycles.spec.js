'use strict';

const { modulePath } = require('../helpers/broker.js');
const { createScene } = require('../helpers/broker-scene.js');
const { until } = require('../helpers/program.js');
const { describeModules } = require('../helpers/servers.js');

/** `IMQ_TEST_LOADS=1000` for a thorough look. */
const LOADS = Number(process.env.IMQ_TEST_LOADS ?? 100);

/** Cycles until all has been allocated that stays. */
const WARM_UP = 20;

/** Of the allocator's own, in KB. */
const SLACK_KB = 1024;

describeModules('a module that is loaded and unloaded again and again', () => {
    const scene = createScene({ allowed: true, module: null });

    // The unicaster finds no Kubernetes, and goes on looking for it.
    it.each(['promoter', 'unicaster'])(`should leave nothing behind, ${LOADS} times: %s`, async name => {
        const broker = await scene.redis();
        const announced = () => broker.log.split('> announcing').length;

        const cycles = async times => {
            for (let count = 0; count < times; count += 1) {
                const earlier = announced();
                await broker.call('MODULE', 'LOAD', modulePath(`${name}.so`));
                // Now and then it has the time to announce itself.
                if (count % 10 === 0) {
                    await until(() => announced() > earlier);
                }
                await broker.call('MODULE', 'UNLOAD', name);
            }
        };
        await cycles(WARM_UP);
        const before = broker.vitals;
        await cycles(LOADS);
        const after = broker.vitals;

        expect(after.threads).toBe(before.threads);
        expect(after.descriptors).toBe(before.descriptors);
        expect(after.memory - before.memory).toBeLessThan(SLACK_KB);
    }, 30_000 + LOADS * 200);
});
