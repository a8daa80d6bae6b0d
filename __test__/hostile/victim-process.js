'use strict';

// A manager that is flooded, with a stand-in for a cluster, in a process that watches itself.

const { readFileSync, readdirSync } = require('node:fs');
const { monitorEventLoopDelay } = require('node:perf_hooks');
const { runInNewContext } = require('node:vm');
const { setFlagsFromString } = require('node:v8');

const { RustUDPClusterManager } = require('../../index.js');
const { answerQuestions, print } = require('../helpers/talk.js');

/** How often memory is looked at. */
const SAMPLE_MS = 100;
const MEGABYTE = 2 ** 20;

/** What Linux counts processor time in. */
const TICKS_PER_SECOND = 100;

/** Where the real brokers are, and what they are called. */
const { realHost, realName, ...options } = JSON.parse(process.argv[2]);

const lines = [];
const write = line => lines.push(line);
const logger = { log: write, info: write, warn: write, error: write };
const manager = new RustUDPClusterManager({ logger, ...options });

/** It searches from start to end, as the cluster of @imqueue/core does. */
const cluster = {
    servers: [],
    add(server) {
        this.servers.push(server);
    },
    remove(server) {
        this.servers = this.servers.filter(other => !isSame(server, other));
    },
    find(server) {
        return this.servers.find(other => isSame(server, other));
    },
};

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc');
const delay = monitorEventLoopDelay({ resolution: 1 });
/** Endpoint to name, by the events: cheaper to look at again and again than `servers`. */
const known = new Map();
let peak = 0;
let events = 0;
let lost = [];

manager.init(cluster);
manager.on('listening', () => print('listening'));
manager.on('remove', server => {
    events += 1;
    known.delete(endpointOf(server));
    if (server.host === realHost) {
        lost.push(server);
    }
});
['add', 'update'].forEach(event => manager.on(event, server => {
    events += 1;
    known.set(endpointOf(server), server.name);
}));
delay.enable();
setInterval(() => { peak = Math.max(peak, rss()); }, SAMPLE_MS).unref();

answerQuestions({
    /** From now on everything is measured anew. */
    begin() {
        gc();
        delay.reset();
        peak = rss();
        events = 0;
        lost = [];
        lines.length = 0;
        return { rss: peak, cpu: cpuTime(), stats: manager.stats() };
    },

    /** What happened since then. */
    measure() {
        const [p50, p99, most] = [delay.percentile(50), delay.percentile(99), delay.max];
        return {
            cpu: cpuTime(),
            delay: { p50: p50 / 1e6, p99: p99 / 1e6, most: most / 1e6 },
            peak: Math.max(peak, rss()),
            events,
            lines,
            lost,
            stats: manager.stats(),
        };
    },

    /** How many brokers are known, and how many of them are real. */
    count() {
        const names = [...known.values()];
        return { real: names.filter(name => name === realName).length, all: names.length };
    },

    /** How many brokers are known, by every way to know. */
    compare() {
        return {
            events: known.size,
            servers: manager.servers.length,
            cluster: cluster.servers.length,
        };
    },
}).then(() => manager.destroy());

/** Seconds that the main thread and the hub thread have worked; none where there is no /proc. */
function cpuTime() {
    const times = { main: NaN, hub: NaN };
    try {
        for (const thread of readdirSync('/proc/self/task')) {
            const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8');
            const [, name, rest] = stat.match(/\((.*)\) (.*)/);
            const [user, system] = rest.split(' ').slice(11, 13).map(Number);
            const time = (user + system) / TICKS_PER_SECOND;

            if (Number(thread) === process.pid) {
                times.main = time;
            } else if (name === 'imq-udp-hub') {
                times.hub = time;
            }
        }
    } catch {
        // It is told where it is known.
    }
    return times;
}

function rss() {
    return process.memoryUsage.rss() / MEGABYTE;
}

function endpointOf({ host, port }) {
    return `${host}:${port}`;
}

function isSame(one, other) {
    return one.id === other.id || (one.host === other.host && one.port === other.port);
}
