'use strict';

const { execFileSync, spawn } = require('node:child_process');
const { once } = require('node:events');
const { join } = require('node:path');
const { setTimeout: sleep } = require('node:timers/promises');

const { Program } = require('../helpers/program.js');
const { ROOT } = require('../helpers/run-node.js');
const { LOOPBACK, LOOPBACK_BROADCAST, Receiver, freePort } = require('../helpers/udp.js');

/** Not where anybody is invented. */
const REAL_HOST = '192.168.0.1';
const REAL_PORT = 6379;
const REAL_ID = 'real';
const REAL_NAME = 'real-broker';

const WAYS = { unicast: LOOPBACK, broadcast: LOOPBACK_BROADCAST };

/** How long it may take until the invented brokers are gone. */
const CALM_MS = 30_000;
const LOOK_MS = 50;

/** Long enough for all to be read, and for the counter of the system to be read once more. */
const SETTLE_MS = 5000;

/** A manager that is flooded while real brokers announce themselves. */
class Siege {
    #announcers;
    #brokers;
    /** What came by unicast is sent on for somebody only. */
    #neighbour = new Receiver();
    #port;
    #victim;

    /**
     * Starts the manager and the brokers.
     *
     * @param {object} settings
     * @param {number} settings.brokers - how many real ones
     * @param {object} [settings.options] - of the manager
     */
    static async begin({ brokers, options }) {
        buildFlood();
        const siege = new Siege(brokers, await freePort());
        try {
            await siege.#begin(options);
        } catch (error) {
            await siege.end();
            throw error;
        }
        return siege;
    }

    constructor(brokers, port) {
        this.#brokers = brokers;
        this.#port = port;
    }

    async #begin(options) {
        await this.#neighbour.bind(this.#port, LOOPBACK_BROADCAST);
        const settings = { port: this.#port, realHost: REAL_HOST, realName: REAL_NAME, ...options };

        this.#victim = Program.start('../hostile/victim-process.js', settings);
        await this.#victim.line(({ event }) => event === 'listening');
        this.#announcers = Program.start('announce-process.js', {
            brokers: this.#brokers,
            destinations: [`${WAYS.broadcast}:${this.#port}`],
            host: REAL_HOST,
            id: REAL_ID,
            name: REAL_NAME,
            port: REAL_PORT,
        });
        await this.#announcers.line(({ event }) => event === 'announced');
        await this.calm();
    }

    /**
     * Floods the manager and tells what happened meanwhile and after it.
     *
     * @param {object} flood
     * @param {string} flood.kind - a key of `FLOODS`
     * @param {string} flood.way - `unicast`, which is relayed, or `broadcast`
     * @param {number} flood.rate - datagrams a second
     * @param {number} flood.seconds
     */
    async flood({ kind, way, rate, seconds }) {
        const start = performance.now();
        const before = await this.#victim.ask('begin');
        const sent = await send(kind, `${WAYS[way]}:${this.#port}`, rate, seconds, this.#names());
        const during = await this.#victim.ask('measure');
        const account = async () => {
            const after = await this.#victim.ask('measure');
            const announced = this.#brokers * (performance.now() - start) / 1000;
            const stats = difference(after.stats, before.stats);
            return { ...after, stats, missing: missing(stats, sent.sent + announced) };
        };
        const { lines, lost, missing: left, stats } = await this.#settled(account);

        return {
            kind,
            way,
            seconds: sent.seconds,
            sent: sent.sent,
            failed: sent.failed,
            rate: sent.sent / sent.seconds,
            cpu: difference(during.cpu, before.cpu),
            delay: during.delay,
            events: during.events,
            lines,
            lost,
            memory: during.peak,
            missing: left,
            stats,
        };
    }

    /** What is measured while nothing but the real brokers is heard. */
    async idle(seconds) {
        await this.#victim.ask('begin');
        await sleep(seconds * 1000);
        const { delay, peak } = await this.#victim.ask('measure');
        return { delay, memory: peak };
    }

    /** Resolves once nobody is known but the real brokers, with how many there are by any way. */
    async calm() {
        const end = Date.now() + CALM_MS;
        for (;;) {
            const { real, all } = await this.#victim.ask('count');
            if (real === this.#brokers && all === this.#brokers) {
                const { events, servers, cluster } = await this.#victim.ask('compare');
                return { events, servers, cluster };
            }
            if (Date.now() > end) {
                throw new Error(`it is not calm: ${real} real brokers, ${all} in all`);
            }
            await sleep(LOOK_MS);
        }
    }

    /** Ends all processes, in any state. */
    async end() {
        this.#neighbour.close();
        await Promise.all([this.#victim?.kill(), this.#announcers?.kill()]);
    }

    /** Lets all processes end by themselves; resolves with the exit code of the manager's. */
    async finish() {
        await this.#announcers.end();
        return this.#victim.end();
    }

    /** Until everything that was sent is accounted for, or that is not to be expected any more. */
    async #settled(account) {
        const end = Date.now() + SETTLE_MS;
        for (;;) {
            const result = await account();
            if (Math.abs(result.missing) <= this.tolerance || Date.now() > end) {
                return result;
            }
            await sleep(LOOK_MS);
        }
    }

    /** Nobody counts how often the real brokers have announced themselves: once a second each. */
    get tolerance() {
        return 3 * this.#brokers;
    }

    #names() {
        return Array.from(
            { length: this.#brokers },
            (_, number) => `${REAL_ID}-${number}@${REAL_HOST}:${REAL_PORT + number}`,
        );
    }
}

/** Node.js itself cannot send that fast. */
function buildFlood() {
    const args = ['build', '--quiet', '--locked', '-p', 'imqueue-udp-net', '--example', 'flood'];
    execFileSync('cargo', args, { cwd: ROOT, stdio: 'inherit' });
}

async function send(kind, target, rate, seconds, names) {
    const program = join(ROOT, 'target', 'debug', 'examples', 'flood');
    const child = spawn(program, [kind, target, rate, seconds, ...names].map(String), {
        stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.on('data', chunk => { output += chunk; });
    await once(child, 'close');
    return JSON.parse(output);
}

/** How many of the datagrams that came to the port are in no counter. What is relayed comes again. */
function missing({ datagrams, kernelDrops, relayed, relayEchoes }, came) {
    return Math.round(came + relayed - datagrams - kernelDrops - relayEchoes);
}

/** What was counted between two snapshots. */
function difference(after, before) {
    return Object.fromEntries(Object.entries(after).map(([name, value]) => [
        name,
        typeof value === 'object' ? difference(value, before[name]) : value - before[name],
    ]));
}

exports.Siege = Siege;
