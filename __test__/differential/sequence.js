'use strict';

const { LONG, PROFILES } = require('./profiles.js');
const { Random } = require('./random.js');
const { INTERVALS, SPELLINGS, withTransport, write } = require('./spellings.js');

const HOSTS = ['10.0.0.1', '10.0.0.2', 'redis-3', 'redis_4'];
const NAMES = ['imq-broker', 'other-fleet'];
/** What an unorderly fleet sends, and how often. */
const KINDS = { announcement: 68, spelling: 18, copy: 6, garbage: 4, flip: 4 };
const TAB = 9;

/**
 * A random sequence of datagrams.
 *
 * @param {string} seed - the same seed makes the same sequence
 * @returns {Sequence}
 *
 * @typedef {object} Sequence
 * @property {string} seed
 * @property {string} profile - a key of `PROFILES`
 * @property {Step[]} steps
 *
 * @typedef {object} Step
 * @property {Buffer[]} datagrams - sent in this order, without waiting in between
 * @property {'sync' | 'lapse' | 'suspend'} then - what follows: until both have dealt with them;
 *     until everything short has expired; or they are sent while both processes are stopped
 */
function createSequence(seed) {
    const random = new Random(seed);
    const weights = Object.entries(PROFILES).map(([name, { weight }]) => [name, weight]);
    const profile = random.weighted(Object.fromEntries(weights));

    return { seed, profile, steps: new Generator(random, profile).steps() };
}

class Generator {
    #profile;
    #random;
    /**
     * Whether brokers are as they should be: each has an address that is its own, says nothing
     * after its down, and comes back with another guid. Most of this is the same in both managers.
     */
    #orderly;
    /** How often a datagram is an `up`: brokers of some orderly fleets only fall silent. */
    #ups;
    #brokers = [];
    #endpoints;
    #guids = 0;
    #last;
    #shorts = [];

    constructor(random, profile) {
        this.#random = random;
        this.#profile = PROFILES[profile];
        this.#orderly = random.chance(0.3);
        this.#ups = this.#orderly && random.chance(0.5) ? 1 : 0.72;
        // Full is only what has fewer places than endpoints.
        const fewest = Math.min(this.#profile.maxServers, 2) + 1;
        this.#endpoints = HOSTS.slice(0, random.between(fewest, HOSTS.length))
            .map(host => ({ host, port: random.pick([6379, 6380]) }));
        this.#brokers = this.#orderly
            ? this.#endpoints.map(endpoint => this.#broker(endpoint))
            : [this.#broker(random.pick(this.#endpoints))];
    }

    steps() {
        return this.#profile.suspends ? this.#suspendedSteps() : this.#usualSteps();
    }

    #usualSteps() {
        const windows = Array.from({ length: this.#random.between(2, 3) }, () => {
            this.#shorts = [...this.#profile.shorts];
            return [...this.#window(), this.#lapse()];
        });
        return windows.flat();
    }

    #suspendedSteps() {
        this.#shorts = [...this.#profile.shorts];
        const before = this.#window();
        // Few enough for the original, which reads 32 before it judges.
        const waiting = this.#random.chance(0.5) ? [this.#announcement()] : [];
        const suspension = { datagrams: waiting, then: 'suspend' };

        return [...before, suspension, ...this.#window(), this.#lapse()];
    }

    #window() {
        return Array.from({ length: this.#random.between(1, 7) }, () => {
            const count = this.#random.chance(0.25) ? this.#random.between(2, 6) : 1;
            return { datagrams: this.#burst(count), then: 'sync' };
        });
    }

    /** One short interval may come anywhere in it; of several, the order has to stay. */
    #burst(count) {
        const before = this.#shorts.length;
        const datagrams = Array.from({ length: count }, () => this.#datagram());
        const reorders = !this.#orderly && before - this.#shorts.length <= 1;

        return reorders ? this.#random.shuffled(datagrams) : datagrams;
    }

    /**
     * What the original evicts at once stands last in a window: the eviction must not come between
     * others.
     */
    #lapse() {
        const spelling = this.#random.chance(0.4) && !this.#orderly
            ? INTERVALS[this.#random.pick(Object.keys(INTERVALS))]
            : fields => fields;
        const fields = this.#fields('up', this.#random.pick(this.#brokers));

        return { datagrams: [write(spelling({ ...fields, interval: LONG }))], then: 'lapse' };
    }

    #datagram() {
        const kind = this.#orderly ? 'announcement' : this.#random.weighted(KINDS);

        switch (kind) {
            case 'spelling':
                return this.#announcement(SPELLINGS[this.#random.pick(Object.keys(SPELLINGS))]);
            case 'copy':
                return this.#last ?? this.#announcement();
            case 'garbage':
                return this.#garbage();
            case 'flip':
                return this.#flip(this.#announcement());
            default:
                return this.#announcement();
        }
    }

    /** Half of it has fewer than three fields, by which the original dies. */
    #garbage() {
        const bytes = this.#random.bytes(this.#random.between(0, 40));
        const tabs = Buffer.from(this.#random.chance(0.5) ? '' : '\t\tx\t');

        return Buffer.concat([bytes, tabs, bytes]);
    }

    /** One byte before the interval becomes another one; tabs stay, so that the interval does. */
    #flip(datagram) {
        const flipped = Buffer.from(datagram);
        const { length } = flipped.toString('latin1').split('\t', 4).join('\t');
        const at = this.#random.between(0, length - 1);
        const byte = this.#random.between(0, 255);

        if (flipped[at] !== TAB && byte !== TAB) {
            flipped[at] = byte;
        }
        return flipped;
    }

    #announcement(spelling = fields => fields) {
        const type = this.#random.chance(this.#ups) ? 'up' : 'down';
        const fields = this.#fields(type, this.#choose(type));
        const datagram = write(spelling(fields));

        // A copy of a short one would come after longer ones.
        if (fields.type === 'down' || fields.interval === LONG) {
            this.#last = datagram;
        }
        return datagram;
    }

    /** Orderly brokers run until they say that they leave; others go on talking, and restart. */
    #choose(type) {
        const index = this.#random.between(0, this.#brokers.length - 1);
        const broker = this.#brokers[index];
        const restarts = this.#orderly ? type === 'down' : this.#random.chance(0.12);

        if (restarts) {
            const { home } = this.#orderly ? broker : { home: this.#random.pick(this.#endpoints) };
            const next = this.#broker(home);
            this.#brokers.splice(...this.#orderly ? [index, 1, next] : [0, 0, next]);
        }
        return broker;
    }

    #broker(home) {
        this.#guids += 1;
        return { guid: `guid-${this.#guids}`, home };
    }

    #fields(type, { guid, home }) {
        const isAtHome = this.#orderly || this.#random.chance(0.3);
        const { host, port } = isAtHome ? home : this.#random.pick(this.#endpoints);
        const name = NAMES[this.#random.chance(0.1) && !this.#orderly ? 1 : 0];
        const interval = type === 'up' ? this.#interval() : undefined;
        const fields = { name, id: guid, type, host, port, address: `${host}:${port}`, interval };

        return type === 'up' && !this.#orderly && this.#random.chance(0.1)
            ? withTransport('tls')(fields)
            : fields;
    }

    /** Each is used once in a window, in growing order: so deadlines stay apart, and in order. */
    #interval() {
        if (this.#shorts.length > 0 && this.#random.chance(this.#profile.suspends ? 0.6 : 0.35)) {
            const short = this.#shorts.shift();
            return short === 0 && this.#random.chance(0.5) ? undefined : short;
        }
        return LONG;
    }
}

exports.createSequence = createSequence;
