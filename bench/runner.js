'use strict';

const { fork } = require('node:child_process');
const { join } = require('node:path');

const { freeUdpPort } = require('../demo/support/ports');
const { Sender } = require('./sender');

const TRIAL = join(__dirname, 'trial.js');

/** A trial that takes longer hangs. */
const LIMIT_MS = 300_000;

/**
 * Runs the trials of a metric: each in a process of its own, the subjects in turn, so that
 * whatever else the machine does meets all of them.
 *
 * @returns {Promise<Record<string, Record<string, number>[]>>} subject to what its trials measured
 */
async function runTrials(metric, options, progress) {
    const wanted = options.trials * (metric.repeats ?? 1);
    const trials = Math.min(wanted, metric.trials ?? Infinity);
    const samples = Object.fromEntries(metric.subjects.map(subject => [subject, []]));

    for (let number = 1; number <= trials; number += 1) {
        for (const subject of metric.subjects) {
            progress.show(`${metric.name}: ${subject}, trial ${number} of ${trials}`);
            samples[subject].push(await runTrial(metric, subject, options));
        }
    }
    return samples;
}

async function runTrial(metric, subject, { peer, quick }) {
    const settings = { metric: metric.name, subject, peer, quick, port: await freeUdpPort() };
    const child = fork(TRIAL, [JSON.stringify(settings)], { execArgv: ['--expose-gc'] });
    const sender = new Sender(settings.port);
    let timer;
    const tooLong = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error(`no result within ${LIMIT_MS} ms`)), LIMIT_MS);
    });

    try {
        return await Promise.race([outcome(child, sender), tooLong]);
    } catch (error) {
        throw new Error(`${metric.name}, ${subject}: ${error.message}`);
    } finally {
        clearTimeout(timer);
        sender.close();
        child.kill('SIGKILL');
    }
}

/** What the trial measures; until then heartbeats are sent to it as it asks for them. */
function outcome(child, sender) {
    return new Promise((resolve, reject) => {
        child.on('message', ({ announce, result, error }) => {
            if (announce) {
                sender.announce(announce).then(sent => child.send({ sent }), reject);
            } else if (error) {
                reject(new Error(error));
            } else {
                resolve(result);
            }
        });
        child.once('error', reject);
        child.once('exit', (code, signal) => {
            reject(new Error(`the trial ended with ${signal ?? `code ${code}`}`));
        });
    });
}

exports.runTrials = runTrials;
