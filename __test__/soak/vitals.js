'use strict';

const { readFileSync, readdirSync } = require('node:fs');

const { median } = require('../helpers/deadlines.js');

/** What a process uses, as the kernel tells; `undefined` where it is gone, or there is no /proc. */
function vitals(pid) {
    try {
        const status = readFileSync(`/proc/${pid}/status`, 'utf8');
        const field = name => Number(status.match(new RegExp(`^${name}:\\s*(\\d+)`, 'm'))[1]);

        return {
            rss: field('VmRSS') / 1024,
            threads: field('Threads'),
            descriptors: readdirSync(`/proc/${pid}/fd`).length,
        };
    } catch {
        return undefined;
    }
}

/** Follows what a process uses over time. */
class Vitals {
    #samples = [];

    constructor(name, pid) {
        this.name = name;
        this.pid = pid;
    }

    sample() {
        const sample = vitals(this.pid);
        if (sample) {
            this.#samples.push(sample);
        }
    }

    /** Per figure: the median of the second and of the last quarter, and the greatest of all. */
    summary() {
        const count = this.#samples.length;
        const quarter = number => this.#samples.slice(count * number / 4, count * (number + 1) / 4);
        const figure = name => ({
            early: median(quarter(1).map(sample => sample[name])),
            late: median(quarter(3).map(sample => sample[name])),
            most: Math.max(...this.#samples.map(sample => sample[name])),
        });

        return {
            rss: figure('rss'),
            threads: figure('threads'),
            descriptors: figure('descriptors'),
        };
    }
}

/**
 * What is wrong with what processes use: managers with stand-ins for clusters keep as many threads
 * and descriptors as they have, and as much memory, give or take what a collector leaves lying. The
 * service and the client have connections to a number of brokers that changes, and are judged on
 * memory alone, with room for what is not of this package.
 *
 * @param {object[]} summaries
 * @param {number} minutes - how long it took: memory is still growing in the first few
 */
function judgeVitals(summaries, minutes) {
    const faults = [];
    for (const { name, rss, threads, descriptors } of summaries) {
        const isWatch = name.startsWith('watch');
        const room = isWatch ? 10 : 30;
        if (minutes >= 5 && rss.late - rss.early > room) {
            faults.push(`${name}: memory grows from ${rss.early} to ${rss.late} MB`);
        }
        if (isWatch && threads.late > threads.early) {
            faults.push(`${name}: threads grow from ${threads.early} to ${threads.late}`);
        }
        if (isWatch && descriptors.late > descriptors.early) {
            faults.push(`${name}: descriptors grow from ${descriptors.early} to ${descriptors.late}`);
        }
    }
    return faults;
}

module.exports = { Vitals, judgeVitals };
