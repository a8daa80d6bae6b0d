'use strict';

const { createServer } = require('node:net');
const { mkdtempSync, rmSync } = require('node:fs');
const { once, setMaxListeners } = require('node:events');
const { join } = require('node:path');
const { setTimeout: sleep } = require('node:timers/promises');
const { tmpdir } = require('node:os');

const { now } = require('../../demo/support/clock.js');
const { Host, RealBroker, StandIn } = require('./brokers.js');
const { Lives } = require('./lives.js');
const { Members, PATIENCE_MS } = require('./members.js');
const { Random } = require('./random.js');
const { PROMPT_MS, SETTLED_MS, Truth } = require('./truth.js');
const { Wire } = require('./wire.js');
const { judgeLosses } = require('./losses.js');

const INTERVAL_MS = 1000;

/** How often each of these is done. */
const LOOK_MS = 250;
const COUNT_MS = 5000;
const SAMPLE_MS = 2000;
const RENEW_MS = [3000, 9000];

/** Stand-ins live on so many hosts. One of these loses its power that often, and for that long. */
const HOSTS = 3;
const OUTAGE_MS = [20_000, 60_000];
const OUTAGE_PAUSE_MS = [200, 3000];

/** What is announced as which: a service must not be given brokers without a Redis. */
const REAL = 'imq-broker';
const STAND_IN = 'imq-stand-in';

/** Runs and their breaks, least and most, and the share of the time that a broker is up then. */
const TIMES = { up: [2000, 40_000], away: [100, 5500], pause: [0, 1500] };
const SHARE_UP = 0.9;

/** How long @imqueue/core may need, after a broker's end was known, to find the one that followed. */
const RECONNECT_MS = 2000;

/** A fleet that changes all the time, and everybody who has to know it. */
class Soak {
    #calls = { asked: 0, answered: 0, explained: 0, failed: 0, slowest: 0 };
    #deaths = [];
    #directory = mkdtempSync(join(tmpdir(), 'imqueue-udp-soak-'));
    #hosts = [];
    #lives = [];
    #members;
    #random;
    #real = [];
    #settings;
    #stop = new AbortController();
    #truth;
    #wire;

    /**
     * @param {object} settings
     * @param {number} settings.seconds - how long the fleet changes
     * @param {number} settings.seed - decides what each broker does, and when
     * @param {number} settings.brokers - how many are up in the mean
     * @param {number} settings.real - how many of them have a Redis
     * @param {number} settings.rate - calls of the service a second
     * @param {number} settings.correction - `aliveTimeoutCorrection`, in ms
     * @param {number} settings.slack - what the machine may add to each time, in ms
     * @param {(line: string) => void} [settings.progress] - told once in a while how it goes
     * @param {(line: string) => void} [settings.fault] - told what is wrong as soon as it is found
     */
    constructor(settings) {
        setMaxListeners(0, this.#stop.signal);
        this.#settings = settings;
        this.#random = new Random(settings.seed);
        this.#truth = new Truth({
            interval: INTERVAL_MS,
            slack: settings.slack,
            onFault: settings.fault,
        });
        this.#wire = new Wire(datagram => this.#truth.heard(datagram));
    }

    /** Runs it from start to end, and tells what came of it. */
    async run() {
        const port = await this.#wire.open();
        const { correction, rate, seconds } = this.#settings;
        const options = { port, aliveTimeoutCorrection: correction };

        this.#members = new Members(options, REAL, this.#directory, this.#truth);
        await this.#members.start();
        await this.#populate(port);
        await this.#members.ask('client', 'startLoad', { rate });
        const chores = this.#chores();
        await sleep(seconds * 1000, undefined, { signal: this.#stop.signal });
        this.#stop.abort();
        await Promise.all([...chores, ...this.#lives.map(({ lived }) => lived)]);
        await this.#conclude();
        return this.#result();
    }

    /** Ends all processes and removes all files, at any time and in any state. */
    async close() {
        this.#stop.abort();
        await Promise.all(this.#lives.map(({ lived }) => lived));
        await Promise.all([this.#members?.close(), this.#closeBrokers()]);
        this.#wire.close();
        rmSync(this.#directory, { recursive: true, force: true });
    }

    async #populate(udpPort) {
        const { brokers, real } = this.#settings;
        const count = Math.round(brokers / SHARE_UP);
        const destinations = [`127.255.255.255:${udpPort}`];
        const announcer = { interval: INTERVAL_MS / 1000, destinations };

        this.#hosts = Array.from(
            { length: HOSTS },
            () => new Host({ announcer: { ...announcer, name: STAND_IN } }),
        );
        for (let port = 1; port <= count - real; port += 1) {
            this.#begin(new StandIn(this.#hosts[port % HOSTS], port));
        }
        for (const port of await quietPorts(real)) {
            const dir = join(this.#directory, `redis-${port}`);
            const broker = new RealBroker({ announcer: { ...announcer, name: REAL }, dir, port });
            this.#real.push(broker);
            this.#begin(broker);
        }
    }

    #begin(broker) {
        const lives = new Lives(broker, {
            random: this.#random.fork(),
            signal: this.#stop.signal,
            times: TIMES,
            truth: this.#truth,
            deaths: this.#deaths,
        });
        this.#lives.push({ lives, lived: lives.live() });
    }

    /** All that goes on beside the lives of the brokers, each until the end. */
    #chores() {
        const random = this.#random.fork();
        const outages = this.#random.fork();

        return [
            this.#every([LOOK_MS], random, () => this.#members.look()),
            this.#every([COUNT_MS], random, () => this.#count()),
            this.#every([SAMPLE_MS], random, async () => this.#members.sample()),
            this.#every(RENEW_MS, random.fork(), () => this.#members.renew()),
            this.#every(OUTAGE_MS, outages, () => {
                const host = this.#hosts[Math.floor(outages.next() * HOSTS)];
                return host.crash(outages.between(...OUTAGE_PAUSE_MS));
            }),
        ];
    }

    async #every([least, most = least], random, act) {
        const { signal } = this.#stop;
        while (!signal.aborted) {
            await sleep(random.between(least, most), undefined, { signal }).catch(() => {});
            if (!signal.aborted) {
                await act().catch(error => this.#truth.complain(`soak: ${error.stack}`));
            }
        }
    }

    /** Sees what became of the calls; `all` counts those as lost that were made just now. */
    async #count(all = false) {
        const calls = await this.#members.ask('client', 'takeCalls', { all });
        const lost = [...calls.lost, ...calls.wrong];
        const traces = await this.#members.ask('service', 'traces', lost.map(call => call.number));
        const span = INTERVAL_MS + this.#settings.correction + RECONNECT_MS;
        const { explained, failed } = judgeLosses(lost, traces, this.#deaths, span);

        const { asked, answered, slowest } = calls;
        Object.assign(this.#calls, { asked, answered, slowest });
        this.#calls.explained += explained;
        this.#calls.failed += failed.length;
        for (const call of failed.slice(0, 3)) {
            this.#truth.complain(`a call failed: ${JSON.stringify(call)}`);
        }
        this.#settings.progress?.(this.#line());
    }

    /** All brokers crash at once, everybody notices, and ends. */
    async #conclude() {
        await this.#members.ask('client', 'stopLoad');
        await sleep(SETTLED_MS);
        await this.#members.compareClusters();
        await this.#count(true);
        await this.#closeBrokers();
        const { correction, slack } = this.#settings;
        await sleep(INTERVAL_MS + correction + PATIENCE_MS + PROMPT_MS + slack);
        await this.#members.look();
        await this.#members.compareClusters();
        await sleep(SETTLED_MS);
        this.#truth.settle(now());
        await this.#members.end();
    }

    async #closeBrokers() {
        const all = [...this.#hosts.splice(0), ...this.#real.splice(0)];

        await Promise.all(all.map(one => one.close()));
        for (const { complaints } of all) {
            if (complaints !== '') {
                this.#truth.complain(`a broker wrote to its standard error: ${complaints}`);
            }
        }
    }

    #line() {
        const { asked, answered, explained, failed } = this.#calls;
        const { checked, faultCount, delays } = this.#truth;

        return [
            `${asked} calls, ${answered} answered, ${explained} lost with a broker, ${failed} failed;`,
            `${checked} looks, ${delays.join.length} joins, ${delays.leave.length} leaves,`,
            `${delays.evict.length} evictions, ${delays.restart.length} restarts;`,
            `${faultCount} faults`,
        ].join(' ');
    }

    #result() {
        const counts = {};
        for (const { lives } of this.#lives) {
            for (const [what, count] of Object.entries(lives.counts)) {
                counts[what] = (counts[what] ?? 0) + count;
            }
        }
        const { checked, delays, faultCount, faults } = this.#truth;
        return {
            calls: this.#calls,
            checked,
            counts,
            delays,
            faultCount,
            faults,
            vitals: this.#members.summary(),
        };
    }
}

/** TCP ports that nobody uses, and that the system gives to nobody while their server restarts. */
async function quietPorts(count) {
    const ports = [];
    for (let port = 21_000 + process.pid % 1000 * 10; ports.length < count; port += 1) {
        const server = createServer();
        try {
            await once(server.listen(port, '127.0.0.1'), 'listening');
            server.close();
            await once(server, 'close');
            ports.push(port);
        } catch (error) {
            if (error.code !== 'EADDRINUSE') {
                throw error;
            }
        }
    }
    return ports;
}

exports.Soak = Soak;
