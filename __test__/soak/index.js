'use strict';

// `npm run soak -- --minutes 30`: see CONTRIBUTING.md. Ends with 0 only if nothing was wrong.

const { loadavg } = require('node:os');
const { parseArgs } = require('node:util');

const { PROMPT_MS, JOIN_MS } = require('./truth.js');
const { Soak } = require('./soak.js');
const { ensureRedis } = require('../../scripts/setup-redis.js');
const { judgeVitals } = require('./vitals.js');

const { values } = parseArgs({
    options: {
        minutes: { type: 'string', default: '1' },
        seed: { type: 'string', default: String(Date.now() % 2 ** 32) },
        brokers: { type: 'string', default: '50' },
        real: { type: 'string', default: '6' },
        rate: { type: 'string', default: '100' },
        correction: { type: 'string', default: '2000' },
        slack: { type: 'string', default: '400' },
    },
});
const { minutes, ...settings } = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, Number(value)]),
);

/** How often it is told how it goes. */
const SHOW_MS = 30_000;

async function main() {
    ensureRedis();
    console.log(`soak: ${JSON.stringify({ minutes, ...settings })}`);
    const start = Date.now();
    const say = line => {
        const seconds = ((Date.now() - start) / 1000).toFixed(1);
        console.log(`${seconds.padStart(7)} s  ${line}`);
    };
    let shownAt = 0;
    const soak = new Soak({
        seconds: minutes * 60,
        ...settings,
        progress: line => {
            if (Date.now() - shownAt >= SHOW_MS) {
                shownAt = Date.now();
                say(line);
            }
        },
        fault: line => say(`FAULT ${line}`),
    });

    for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM']) {
        process.once(signal, () => {
            say(`ended by ${signal}`);
            soak.close().then(() => process.exit(1));
        });
    }
    try {
        return show(await soak.run());
    } finally {
        await soak.close();
    }
}

/** Prints what came of it; returns the exit code. */
function show({ calls, checked, counts, delays, faultCount, vitals }) {
    const limits = { join: JOIN_MS, restart: JOIN_MS, gap: JOIN_MS };
    const growing = judgeVitals(vitals, minutes);
    const wrong = faultCount + growing.length;

    console.log('\nbrokers', counts);
    console.log('calls', calls);
    console.log(`managers compared with the truth: ${checked}`);
    console.log('\nms after its cause');
    console.table(Object.fromEntries(Object.entries(delays).map(([what, all]) => {
        return [what, { ...spread(all), ...over(all, limits[what] ?? PROMPT_MS) }];
    })));
    console.log('what the processes use: median of the second and of the last quarter, and the most');
    console.table(Object.fromEntries(vitals.map(({ name, ...figures }) => [name, flat(figures)])));
    growing.forEach(line => console.log(`FAULT ${line}`));
    console.log(`load of the machine: ${loadavg().map(round).join(', ')}`);
    console.log(`\n${wrong} faults`);
    return wrong === 0 ? 0 : 1;
}

function spread(delays) {
    const sorted = delays.toSorted((a, b) => a - b);
    const at = share => round(sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)]);

    return { count: sorted.length, least: at(0), p50: at(0.5), p99: at(0.99), most: at(1) };
}

function over(delays, limit) {
    return { limit, over: delays.filter(delay => delay > limit).length };
}

function flat(figures) {
    const shown = ({ early, late, most }) => [early, late, most].map(round).join(' / ');
    return Object.fromEntries(Object.entries(figures).map(([name, figure]) => [name, shown(figure)]));
}

function round(value = NaN) {
    return Math.round(value * 10) / 10;
}

main().then(
    code => process.exit(code),
    error => {
        console.error('soak:', error);
        process.exit(1);
    },
);
