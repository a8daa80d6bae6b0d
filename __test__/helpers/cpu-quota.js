'use strict';

const { existsSync, mkdirSync, rmdirSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

const PERIOD_MS = 100;

/** Where control groups with a CPU quota can be made, and how one is set there. */
const HIERARCHIES = [
    {
        name: 'cgroup v2',
        root: '/sys/fs/cgroup',
        probe: 'cpu.max',
        set: (group, quotaUs, periodUs) => write(group, 'cpu.max', `${quotaUs} ${periodUs}`),
    },
    {
        name: 'cgroup v1',
        root: '/sys/fs/cgroup/cpu',
        probe: 'cpu.cfs_quota_us',
        set: (group, quotaUs, periodUs) => {
            write(group, 'cpu.cfs_period_us', periodUs);
            write(group, 'cpu.cfs_quota_us', quotaUs);
        },
    },
];

/**
 * Lets a process have only a part of one CPU: by a control group where one can be made, otherwise
 * by stopping and continuing it ten times a second.
 *
 * @param {number} pid - of the process; all of its threads share that part
 * @param {number} share - of one CPU, from 0 to 1
 * @returns {{ how: string, release: () => void }} by which means, and what takes the limit away
 */
function limitCpu(pid, share) {
    return limitByGroup(pid, share) ?? limitBySignals(pid, share);
}

function limitByGroup(pid, share) {
    for (const { name, root, probe, set } of HIERARCHIES) {
        const group = join(root, `imq-test-${pid}`);
        try {
            mkdirSync(group);
        } catch {
            // There is no such hierarchy, or it is not ours to change.
            continue;
        }
        if (existsSync(join(group, probe))) {
            set(group, PERIOD_MS * 1000 * share, PERIOD_MS * 1000);
            write(group, 'cgroup.procs', pid);
            return {
                how: name,
                release() {
                    // Without limits and members, it can be removed.
                    write(root, 'cgroup.procs', pid);
                    rmdirSync(group);
                },
            };
        }
        rmdirSync(group);
    }
    return undefined;
}

function limitBySignals(pid, share) {
    let rest;
    const timer = setInterval(() => {
        signal(pid, 'SIGCONT');
        rest = setTimeout(() => signal(pid, 'SIGSTOP'), PERIOD_MS * share);
    }, PERIOD_MS);

    return {
        how: 'signals',
        release() {
            clearInterval(timer);
            clearTimeout(rest);
            signal(pid, 'SIGCONT');
        },
    };
}

function signal(pid, name) {
    try {
        process.kill(pid, name);
    } catch {
        // It has ended: the test sees that for itself.
    }
}

function write(group, file, value) {
    writeFileSync(join(group, file), String(value));
}

exports.limitCpu = limitCpu;
