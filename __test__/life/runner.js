'use strict';

const { once } = require('node:events');
const { spawn } = require('node:child_process');
const { join } = require('node:path');
const { text } = require('node:stream/consumers');

const { SCENARIOS } = require('./scenarios.js');

/** Whoever lives longer hangs: it takes a fraction of a second, and on a loaded machine some. */
const DEADLINE_MS = 60_000;

/** Memory that is given back is overwritten with this, so that nobody gets away with using it. */
const ENVIRONMENT = { ...process.env, MALLOC_PERTURB_: '90' };

/**
 * Places where lives are lived, each with a port of its own that new brokers are announced to, 2,000
 * a second.
 */
class Stage {
    #flood;
    #ports;
    #summary;

    /** @param {number} places - how many lives there can be at a time */
    constructor(places) {
        // Below those that systems choose from, so that no other test hears these brokers.
        const first = 20_000 + process.pid * 8 % 10_000;

        this.#ports = Array.from({ length: places }, (_, place) => first + place);
        this.#flood = spawn(
            process.execPath,
            [join(__dirname, 'flood-process.js'), ...this.#ports],
            { stdio: ['pipe', 'pipe', 'inherit'] },
        );
        this.#summary = text(this.#flood.stdout);
    }

    /**
     * Runs a scenario so many times.
     *
     * @param {string} scenario - its name in scenarios.js
     * @param {object} options
     * @param {string} options.node - the path of a Node.js
     * @param {number} options.runs - how many
     * @param {number} options.seed - the same one makes the same lives
     * @returns {Promise<string[]>} how lives failed
     */
    async run(scenario, { node, runs, seed }) {
        const failures = [];
        let next = 0;

        await Promise.all(this.#ports.map(async port => {
            while (next < runs) {
                this.#checkFlood();
                const run = next;
                next += 1;
                const options = { scenario, port, ...circumstances(seed + run) };
                const failure = judge(scenario, await live(node, options));
                if (failure) {
                    failures.push(`${JSON.stringify(options)}: ${failure}`);
                }
            }
        }));
        return failures;
    }

    #checkFlood() {
        if (this.#flood.exitCode !== null || this.#flood.signalCode !== null) {
            throw new Error('the process that announces brokers has ended');
        }
    }

    /** Ends the flood, and says how many announcements a second each port got. */
    async close() {
        this.#flood.stdin.end();
        const { sent, ms } = JSON.parse(await this.#summary);
        return sent / ms * 1000;
    }
}

/** When it ends, and which of two ways it goes where there are two. */
function circumstances(seed) {
    const random = randomNumbers(seed);
    const [unit, most] = [['adds', 150], ['turns', 150], ['ms', 150]][seed % 3];
    return { moment: { unit, count: Math.ceil(random() * most) }, variant: Math.floor(random() * 2) };
}

/** The mulberry32 generator: numbers from 0 to 1, the same for the same seed. */
function randomNumbers(seed) {
    let state = seed;
    return () => {
        state = state + 0x6d2b79f5 | 0;
        let mixed = Math.imul(state ^ state >>> 15, state | 1);
        mixed ^= mixed + Math.imul(mixed ^ mixed >>> 7, mixed | 61);
        return ((mixed ^ mixed >>> 14) >>> 0) / 2 ** 32;
    };
}

async function live(node, options) {
    const program = spawn(
        node,
        [join(__dirname, 'program.js'), JSON.stringify(options)],
        { env: ENVIRONMENT, stdio: ['ignore', 'pipe', 'pipe'], timeout: DEADLINE_MS, killSignal: 'SIGKILL' },
    );
    if (SCENARIOS[options.scenario].kill) {
        program.stdout.once('data', () => program.kill('SIGTERM'));
    }
    const [[code, signal], stderr] = await Promise.all([
        once(program, 'close'),
        text(program.stderr),
        program.stdout.resume(),
    ]);
    return { code, signal, stderr };
}

/** What is wrong with how it ended, if anything is. */
function judge(scenario, { code, signal, stderr }) {
    const expected = SCENARIOS[scenario];
    const silent = expected.stderr ? expected.stderr.test(stderr) : stderr === '';

    if (code !== expected.code || signal !== expected.signal || !silent) {
        return `code ${code}, signal ${signal}, stderr ${JSON.stringify(stderr)}`;
    }
}

exports.Stage = Stage;
