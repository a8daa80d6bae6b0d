'use strict';

const { Cluster } = require('../subject');

const RATE = 400;
const WARM_UP = 200;

/** From the moment a broker first announces itself until the cluster is given it. */
module.exports = {
    subjects: ['ours', 'peer'],
    rows: [
        {
            title: 'datagram to add, p50',
            unit: 'ms',
            ours: 'p50',
            target: { ratio: 0.6 },
            noisy: true,
        },
        {
            title: 'datagram to add, p99',
            unit: 'ms',
            ours: 'p99',
            target: { ratio: 1 },
            noisy: true,
        },
    ],

    async measure({ announce, quick, settle, sleep, subject }) {
        await subject.load();
        const latencies = [];
        // The clocks are the same in all processes.
        const onAdd = ({ id }) => latencies.push(Number(process.hrtime.bigint() - BigInt(id)));
        subject.createManager().init(new Cluster(onAdd));
        await settle(1500);

        await announce('new', RATE, quick ? 2 : 6);
        await sleep(500);
        const sorted = latencies.slice(WARM_UP).sort((a, b) => a - b);
        const percentile = part => sorted[Math.floor(part * sorted.length)] / 1e6;
        return { p50: percentile(0.5), p99: percentile(0.99) };
    },
};
