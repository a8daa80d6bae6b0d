'use strict';

const { Broker, modulePath } = require('../helpers/broker.js');
const { nothingFor } = require('../helpers/said.js');
const { describeModules } = require('../helpers/servers.js');
const { freePort } = require('../helpers/udp.js');

/** `IMQ_TEST_LOADS=1000` for a thorough look. */
const LOADS = Number(process.env.IMQ_TEST_LOADS ?? 100);

/** Cycles until all has been allocated that stays. */
const WARM_UP = 20;

/** Of the allocator's own, in KB. */
const SLACK_KB = 1024;

describeModules('a module that is loaded and unloaded again and again', () => {
    let broker;

    beforeEach(async () => {
        // The unicaster finds no Kubernetes, and goes on looking for it.
        const env = {
            REDIS_BROADCAST_PORT: String(await freePort()),
            SELECTED_INTERFACES: '127',
        };
        broker = await Broker.start({ allowed: true, env, module: null });
    });

    afterEach(() => broker.close());

    it.each(['promoter', 'unicaster'])(`should leave nothing behind, ${LOADS} times: %s`, async name => {
        const cycle = async pause => {
            await broker.call('MODULE', 'LOAD', modulePath(`${name}.so`));
            await nothingFor(pause);
            await broker.call('MODULE', 'UNLOAD', name);
        };
        for (let count = 0; count < WARM_UP; count += 1) {
            await cycle(20);
        }
        const before = broker.vitals;
        for (let count = 0; count < LOADS; count += 1) {
            // Now and then it has the time to announce itself.
            await cycle(count % 10 === 0 ? 150 : 0);
        }
        const after = broker.vitals;

        const announced = broker.lines.filter(({ text }) => text.includes('> announcing'));
        expect(announced.length).toBeGreaterThanOrEqual(LOADS / 10);
        expect(after.threads).toBe(before.threads);
        expect(after.descriptors).toBe(before.descriptors);
        expect(after.memory - before.memory).toBeLessThan(SLACK_KB);
    }, 30_000 + LOADS * 200);
});
