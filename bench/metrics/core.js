'use strict';

const { readEstimate, runBenchmark } = require('../native');

/** Read and refresh alone, without the system call that a heartbeat comes with. */
module.exports = {
    subjects: ['ours'],
    trials: 1,
    rows: [
        {
            title: 'read + refresh alone, 1,000 brokers',
            unit: 'ns',
            ours: 'thousand',
            against: null,
        },
        {
            title: 'the same with 100,000 brokers',
            unit: 'ns',
            ours: 'hundredThousand',
            against: 'ten',
            of: 'ours',
            label: 'with 10',
        },
    ],

    async measure({ quick }) {
        const flags = quick ? ['--quick'] : [];
        runBenchmark('imqueue-udp-core', 'fleet', '--noplot', ...flags, '^heartbeat/');
        return {
            ten: readEstimate('heartbeat/10'),
            thousand: readEstimate('heartbeat/1000'),
            hundredThousand: readEstimate('heartbeat/100000'),
        };
    },
};
