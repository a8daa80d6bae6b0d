'use strict';

// `npm run hostile -- --seconds 30 --rate 100000`: see CONTRIBUTING.md. Ends with 0 only if nothing
// was wrong.

const { parseArgs } = require('node:util');

const { FLOODS, judge } = require('./floods.js');
const { Siege } = require('./siege.js');

const { values } = parseArgs({
    options: {
        seconds: { type: 'string', default: '30' },
        rate: { type: 'string', default: '100000' },
        brokers: { type: 'string', default: '20' },
        kinds: { type: 'string', default: Object.keys(FLOODS).join() },
        ways: { type: 'string', default: 'unicast,broadcast' },
    },
});
const [seconds, rate, brokers] = ['seconds', 'rate', 'brokers'].map(name => Number(values[name]));

/** Long enough for the engine to have compiled what it will. */
const WARM_UP_SECONDS = 2;
const IDLE_SECONDS = 5;

async function main() {
    const siege = await Siege.begin({ brokers });
    let wrong = 0;
    try {
        const kinds = values.kinds.split(',');
        for (const kind of kinds) {
            await siege.flood({ kind, way: 'broadcast', rate, seconds: WARM_UP_SECONDS });
            await siege.calm();
        }
        const idle = await siege.idle(IDLE_SECONDS);
        console.log('idle', show(idle));
        for (const way of values.ways.split(',')) {
            for (const kind of kinds) {
                const flood = await siege.flood({ kind, way, rate, seconds });
                const faults = judge(flood, idle, siege.tolerance);
                wrong += faults.length;
                tell(flood, idle, faults);
                await siege.calm();
            }
        }
        const code = await siege.finish();
        console.log(`${wrong} faults, the process ended with ${code}`);
        return wrong + code === 0 ? 0 : 1;
    } finally {
        await siege.end();
    }
}

function tell(flood, idle, faults) {
    const { cpu, events, kind, lines, lost, missing, sent, stats, way } = flood;

    console.log(`\n${kind}, ${way}: ${FLOODS[kind].what}`);
    console.log(`  ${sent} datagrams, ${Math.round(flood.rate)} a second; ${show(flood, idle)}`);
    console.log([
        `  hub thread ${micros(cpu.hub, sent)}, main thread ${micros(cpu.main, sent)} a datagram;`,
        `${events} events, ${lost.length} real brokers removed, ${missing} datagrams uncounted`,
    ].join(' '));
    console.log(`  ${JSON.stringify(stats)}`);
    lines.forEach(line => console.log(`  > ${line}`));
    faults.forEach(fault => console.log(`  FAULT ${fault}`));
}

function show({ delay: { p50, p99, most }, memory }, idle) {
    const grown = idle ? ` (${(memory - idle.memory).toFixed(1)} more than idle)` : '';
    const delays = [p50, p99, most].map(ms => ms.toFixed(1)).join(' / ');
    return `event loop ${delays} ms (p50 / p99 / most), at most ${memory.toFixed(1)} MB${grown}`;
}

function micros(seconds, count) {
    return `${(seconds / count * 1e6).toFixed(2)} µs`;
}

main().then(
    code => process.exit(code),
    error => {
        console.error('hostile:', error);
        process.exit(1);
    },
);
