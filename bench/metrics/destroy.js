'use strict';

const { Cluster } = require('../subject');

const BROKERS = 100;

/** How long `destroy()` of a manager takes that knows brokers. */
module.exports = {
    subjects: ['ours', 'peer'],
    rows: [{
        title: 'destroy()',
        unit: 'ms',
        ours: 'destroy',
        target: { most: 2 },
        noisy: true,
    }],

    async measure({ announce, sleep, subject }) {
        const cluster = new Cluster();
        await subject.load();
        const manager = subject.createManager();
        manager.init(cluster);
        while (cluster.size < BROKERS) {
            await announce(BROKERS, BROKERS, 1);
            await sleep(100);
        }
        const start = performance.now();
        await manager.destroy();
        return { destroy: performance.now() - start };
    },
};
