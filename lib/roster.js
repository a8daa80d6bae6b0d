'use strict';

// Not the global ones, which fake timers of tests replace, and of which jsdom makes numbers.
const { clearImmediate, clearInterval, setImmediate, setInterval } = require('node:timers');

const { Member } = require('./member.js');

/**
 * How often it is checked that clusters still have what they were given. What they lack is to be
 * offered within five seconds; one of them is left for a busy event loop.
 */
const REVIEW_PERIOD_MS = 4000;

/**
 * So many brokers are checked before the event loop gets its turn: a cluster may take long to find
 * one among many.
 */
const REVIEW_LIMIT = 32;

/** The clusters that are attached to one manager, and the check that they have every broker. */
class Roster {
    #known;
    #report;
    /** By the object that `init` was called with. */
    #members = new Map();
    #continuation;
    #timer;

    /**
     * @param {() => Map<string, import('./server.js').Server>} known - the brokers there are now
     * @param {(level: string, cause: string, message: string) => void} report - told what went
     *     wrong in a cluster
     */
    constructor(known, report) {
        this.#known = known;
        this.#report = report;
    }

    get clusters() {
        return [...this.#members.keys()];
    }

    /** Attaches a cluster; one that is attached already stays so. */
    attach(cluster) {
        if (this.#members.has(cluster)) {
            return;
        }
        const member = new Member(cluster, this.#known, this.#report);

        this.#members.set(cluster, member);
        this.#schedule();
        // The constructor of the queue that calls `init` has to finish before it can take brokers.
        Promise.resolve().then(() => this.#known().forEach(server => member.offer(server)));
    }

    /** Detaches a cluster, given as itself, as its id, or as something with its id. */
    detach(handle) {
        const member = this.#members.get(handle) ?? this.#findById(handle?.id ?? handle);

        if (member) {
            member.detach();
            this.#members.delete(member.cluster);
            this.#schedule();
        }
    }

    clear() {
        this.#members.forEach(member => member.detach());
        this.#members.clear();
        this.#schedule();
    }

    /** Gives a new broker to every cluster. */
    offer(server) {
        this.#each(member => member.offer(server));
    }

    /** Takes a broker away from every cluster that was given it. */
    withdraw(server, type) {
        this.#each(member => member.withdraw(server, type));
    }

    /** Members that leave while others are served are not served any more. */
    #each(serve) {
        [...this.#members.values()].forEach(serve);
        this.#schedule();
    }

    /** The timer runs only while there is something to check. */
    #schedule() {
        if (this.#members.size > 0 && this.#known().size > 0) {
            this.#timer ??= setInterval(() => this.#beginReview(), REVIEW_PERIOD_MS).unref();
        } else {
            clearInterval(this.#timer);
            clearImmediate(this.#continuation);
            this.#timer = undefined;
            this.#continuation = undefined;
        }
    }

    /** One that takes longer than the period is not overtaken. */
    #beginReview() {
        if (!this.#continuation) {
            this.#review([...this.#known().values()]);
        }
    }

    #review(servers) {
        this.#continuation = undefined;
        // They may have left since the review began.
        const present = servers
            .slice(0, REVIEW_LIMIT)
            .filter(server => this.#known().get(server.endpoint) === server);
        this.#each(member => present.forEach(server => member.review(server)));
        if (servers.length > REVIEW_LIMIT && this.#timer) {
            const rest = servers.slice(REVIEW_LIMIT);
            // It keeps the process up for a moment: one that does not would wait for something to happen.
            this.#continuation = setImmediate(() => this.#review(rest));
        }
    }

    #findById(id) {
        return [...this.#members.values()].find(({ cluster }) => cluster.id === id);
    }
}

exports.Roster = Roster;
