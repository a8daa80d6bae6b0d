'use strict';

const { Cluster } = require('../subject');
const { voluntarySwitches } = require('../proc');

/** How often a process wakes up for a manager that hears nothing. */
module.exports = {
    subjects: ['ours', 'peer', 'bare'],
    rows: [{
        title: 'idle: context switches in 10 s above Node.js',
        ours: 'switches',
        above: 'bare',
        target: { most: 10 },
        noisy: true,
    }],

    async measure({ quick, settle, sleep, subject }) {
        const seconds = quick ? 5 : 10;
        if (!subject.isBare) {
            await subject.load();
            subject.createManager().init(new Cluster());
        }
        await settle(0);
        // V8 looks for more garbage for some 15 s after it has found some, on all of its threads.
        await sleep(quick ? 3000 : 20_000);
        const before = voluntarySwitches();
        await sleep(seconds * 1000);
        return { switches: (voluntarySwitches() - before) * 10 / seconds };
    },
};
