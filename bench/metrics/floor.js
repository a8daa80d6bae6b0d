'use strict';

const { runBenchmark } = require('../native');

/** How close receiving and announcing come to what the kernel alone costs, in CPU time. */
module.exports = {
    subjects: ['ours'],
    rows: [
        {
            title: 'receive + read + refresh, 1,000 brokers',
            unit: 'ns',
            ours: 'hub, 1000 brokers',
            against: 'recvmmsg with addresses',
            of: 'ours',
            label: 'recvmmsg',
            target: { ratio: 1.3 },
            noisy: true,
        },
        {
            // For its source and destination alone, a datagram costs a quarter more.
            title: 'the same',
            unit: 'ns',
            ours: 'hub, 1000 brokers',
            against: 'recvmmsg',
            of: 'ours',
            label: 'recvmmsg without addresses',
        },
        {
            title: 'the same with 100,000 brokers',
            unit: 'ns',
            ours: 'hub, 100000 brokers',
            against: 'hub, 10 brokers',
            of: 'ours',
            label: 'with 10',
            target: { ratio: 1.5 },
            noisy: true,
        },
        {
            title: 'announcing to 10,000 pods, each',
            unit: 'ns',
            ours: 'announcer',
            against: 'sendmmsg',
            of: 'ours',
            label: 'sendmmsg',
            target: { ratio: 1.3 },
            noisy: true,
        },
        {
            // 1/4 was wished for, but a bare sendmmsg loop does not reach that either: to send is
            // most of what it costs, and a socket the rest.
            title: 'the same',
            unit: 'ns',
            ours: 'announcer',
            against: 'a socket for each',
            of: 'ours',
            label: 'a socket for each',
            target: { ratio: 0.4 },
            noisy: true,
        },
    ],

    async measure({ quick }) {
        const flags = ['--json', ...quick ? ['--quick'] : []];
        return JSON.parse(runBenchmark('imqueue-udp-net', 'floor', ...flags));
    },
};
