'use strict';

// `npm run bench`: measures this package against the manager of @imqueue/core and against what the
// kernel alone costs, and says which of the targets hold. Needs Linux and cargo.
//
//   --quick        for CI: fewer and shorter trials, and no verdict where noise decides
//   --only NAME    one metric, by the name of its file in metrics/; can be given several times
//   --peer PATH    another build of @imqueue/core
//   --trials N     how many of each, 5 by default; three times as many of what is over in a moment
//   --out FILE     where the results are written to, as JSON: by default a file in bench/results/,
//                  and in target/bench/ where any of these options is given
//
// Ends with 0 if all targets hold, 1 if one is missed, and 2 if it could not measure.

const { existsSync, mkdirSync, statSync, writeFileSync } = require('node:fs');
const { dirname, join, relative, resolve } = require('node:path');
const { parseArgs } = require('node:util');

const metrics = require('./metrics');
const { Progress } = require('./progress');
const { describeRun } = require('./machine');
const { formatTable } = require('./table');
const { judge } = require('./verdict');
const { prepare } = require('./native');
const { runTrials } = require('./runner');
const { Subject } = require('./subject');

const ROOT = join(__dirname, '..');
const PEER = '@imqueue/core';

main().catch(error => {
    console.error(`bench: ${error.message}`);
    process.exitCode = 2;
});

async function main() {
    const options = readOptions();
    const progress = new Progress();

    if (process.platform !== 'linux') {
        throw new Error('it reads what only Linux tells about processes and sockets');
    }
    // What cannot be measured is to be known now, not after half an hour.
    await new Subject({ subject: 'peer', peer: options.peer }).load();
    const run = describeRun(options);
    const rows = [];

    try {
        prepare(progress, options.metrics);
        for (const metric of options.metrics) {
            const samples = await runTrials(metric, options, progress);
            rows.push(...judge(metric, samples, options.quick));
        }
    } finally {
        progress.clear();
        console.log(formatTable(rows));
    }
    save(options.out, { ...run, loadAtTheEnd: describeRun(options).load, rows });
    conclude(rows);
}

function readOptions() {
    const { values } = parseArgs({
        options: {
            only: { type: 'string', multiple: true },
            out: { type: 'string' },
            peer: { type: 'string', default: PEER },
            quick: { type: 'boolean', default: false },
            trials: { type: 'string' },
        },
    });
    const { only, peer, quick } = values;
    const unknown = only?.filter(name => !metrics.some(metric => metric.name === name)) ?? [];
    const trials = Number(values.trials ?? (quick ? 2 : 5));

    if (unknown.length > 0) {
        const names = metrics.map(metric => metric.name).join(', ');
        throw new Error(`there is no metric ${unknown.join(', ')}; there are ${names}`);
    }
    if (!Number.isInteger(trials) || trials < 1) {
        throw new Error(`--trials is to be a number from 1, not ${values.trials}`);
    }
    const partial = quick || only !== undefined || peer !== PEER || trials < 5;

    return {
        metrics: metrics.filter(metric => !only || only.includes(metric.name)),
        out: values.out === undefined ? defaultOut(partial) : checkedOut(values.out),
        peer: resolvePeer(peer),
        quick,
        trials,
    };
}

/** The main file of a package, by its name or by where it is. */
function resolvePeer(peer) {
    const path = resolve(peer);
    try {
        return require.resolve(existsSync(path) ? path : peer, { paths: [ROOT] });
    } catch {
        throw new Error(`--peer is to be a build of ${PEER}, not ${peer}`);
    }
}

function checkedOut(file) {
    if (file === '' || (existsSync(file) && !statSync(file).isFile())) {
        throw new Error(`--out is to be a file, not '${file}'`);
    }
    mkdirSync(dirname(file), { recursive: true });
    return file;
}

/** What is not the whole story is not kept among the results. */
function defaultOut(partial) {
    const date = new Date().toISOString().slice(0, 16).replace(/[T:]/g, '-');

    return partial
        ? join(ROOT, 'target', 'bench', `${date}.json`)
        : join(__dirname, 'results', `${date}.json`);
}

function save(file, results) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${JSON.stringify(results, null, 4)}\n`);
    console.log(`\nWritten to ${relative(process.cwd(), file)}`);
}

function conclude(rows) {
    const missed = rows.filter(({ holds }) => holds === false);
    const judged = rows.filter(({ holds }) => holds !== undefined);

    console.log(`${judged.length - missed.length} of ${judged.length} targets hold`);
    process.exitCode = missed.length > 0 ? 1 : 0;
}
