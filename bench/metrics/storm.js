'use strict';

const { Cluster } = require('../subject');
const { cpuMs, drops, peakRssKb, resetPeak, rssKb } = require('../proc');

const BROKERS = 1000;
const RATE = 100_000;

/** 100,000 heartbeats a second of 1,000 known brokers. */
module.exports = {
    subjects: ['ours', 'peer'],
    rows: [
        {
            title: '100,000 heartbeats/s: datagrams lost',
            unit: '%',
            ours: 'lost',
            target: { most: 0, loses: true },
            noisy: true,
        },
        {
            title: 'the same: CPU of a second',
            unit: 'ms',
            ours: 'cpu',
            target: { ratio: 1 / 4 },
            noisy: true,
        },
        {
            title: 'the same: CPU of a datagram that was received',
            unit: 'µs',
            ours: 'cpuEach',
        },
        {
            title: 'the same: event loop used',
            unit: '%',
            ours: 'loop',
            target: { ratio: 1 / 50 },
            noisy: true,
        },
        {
            title: 'the same: memory growth',
            unit: 'KB',
            ours: 'growth',
            target: { ratio: 1 / 20 },
            noisy: true,
        },
    ],

    async measure({ announce, quick, settle, sleep, subject }) {
        const seconds = quick ? 3 : 10;
        const cluster = new Cluster();
        await subject.load();
        subject.createManager().init(cluster);
        await settle(1500);
        const known = announce(BROKERS, BROKERS, 3);
        while (cluster.size < BROKERS) {
            await sleep(100);
        }
        await known;
        await settle(600);

        resetPeak();
        const before = { cpu: cpuMs(), rss: rssKb(), drops: drops(subject.port) };
        const loop = performance.eventLoopUtilization();
        const sent = await announce(BROKERS, RATE, seconds);
        const used = performance.eventLoopUtilization(loop).utilization;
        // What waits in the process when the storm is over belongs to it too.
        await sleep(1000);
        const cpu = cpuMs() - before.cpu;
        const lost = drops(subject.port) - before.drops;

        return {
            lost: lost / sent * 100,
            cpu: cpu / seconds,
            cpuEach: cpu * 1000 / (sent - lost),
            loop: used * 100,
            // A peak below what was there before is none.
            growth: Math.max(0, peakRssKb() - before.rss),
        };
    },
};
