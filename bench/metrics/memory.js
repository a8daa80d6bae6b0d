'use strict';

const { readFile } = require('node:fs/promises');

const { Cluster } = require('../subject');
const { rssKb, threads, udpSockets } = require('../proc');

const MANAGERS = 100;

/** What managers on one port take: memory, threads and sockets. */
module.exports = {
    subjects: ['ours', 'peer'],
    rows: [
        {
            title: 'memory of one manager',
            unit: 'KB',
            ours: 'first',
            target: { ratio: 1 / 5 },
        },
        {
            // The peer's further managers take less, since they do nothing: only the first of those
            // on a port is told of brokers.
            title: 'memory of a further manager on the port',
            unit: 'KB',
            ours: 'further',
            target: { most: 100 },
        },
        {
            title: `threads of ${MANAGERS} managers`,
            ours: 'threads',
            target: { most: 1 },
        },
        {
            title: `sockets of ${MANAGERS} managers`,
            ours: 'sockets',
            target: { most: 1 },
        },
    ],

    async measure({ announce, settle, subject }) {
        // Threads that Node.js starts when they are first needed are there then.
        await readFile(__filename);
        await subject.load();
        await settle(1500);
        const before = { rss: rssKb(), threads: threads(), sockets: udpSockets() };

        const managers = [start(subject)];
        await announce(1, 10, 1);
        await settle(1500);
        const first = rssKb() - before.rss;

        while (managers.length < MANAGERS) {
            managers.push(start(subject));
        }
        await announce(1, 10, 1);
        await settle(1500);
        return {
            first,
            further: (rssKb() - before.rss - first) / (MANAGERS - 1),
            threads: threads() - before.threads,
            sockets: udpSockets() - before.sockets,
        };
    },
};

function start(subject) {
    const manager = subject.createManager();
    manager.init(new Cluster());
    return manager;
}
