'use strict';

const { cpuMs } = require('../proc');
const { Cluster } = require('../subject');

const BROKERS = 1000;

/** What a fleet costs in which nothing happens: 1,000 brokers that announce themselves at 1 Hz. */
module.exports = {
    subjects: ['ours', 'peer'],
    rows: [
        {
            title: '1,000 brokers at 1 Hz: CPU in 10 s, above idle',
            unit: 'ms',
            ours: 'cpu',
            target: { ratio: 1 / 10 },
            noisy: true,
        },
        {
            title: 'the same: calls to JavaScript for heartbeats',
            ours: 'calls',
            target: { most: 0 },
        },
        {
            // Ours are those of the timer that looks whether clusters still have their brokers.
            title: 'the same: turns of the event loop above idle',
            ours: 'turns',
        },
    ],

    async measure({ announce, quick, settle, sleep, subject }) {
        const seconds = quick ? 3 : 10;
        const cluster = new Cluster();
        await subject.load();
        const manager = subject.createManager();
        manager.init(cluster);
        await settle(1500);

        const idle = await observe(seconds, sleep);
        const announced = announce(BROKERS, BROKERS, seconds + 4);
        while (cluster.size < BROKERS) {
            await sleep(100);
        }
        await sleep(1000);
        const callsBefore = calls(manager, cluster);
        const busy = await observe(seconds, sleep);
        const called = calls(manager, cluster) - callsBefore;
        await announced;

        return {
            cpu: (busy.cpu - idle.cpu) * 10 / seconds,
            calls: called,
            turns: busy.turns - idle.turns,
        };
    },
};

async function observe(seconds, sleep) {
    const before = { cpu: cpuMs(), turns: turns() };
    await sleep(seconds * 1000);
    return { cpu: cpuMs() - before.cpu, turns: turns() - before.turns };
}

/** How often JavaScript was called because of a datagram: ours counts that, the peer looks. */
function calls(manager, cluster) {
    return manager.stats ? manager.stats().wakeups : cluster.lookups;
}

function turns() {
    return performance.nodeTiming.uvMetricsInfo.loopCount;
}
