'use strict';

const { StandInCluster } = require('./stand-in-cluster.js');

/** The longest delay that a timer of Node.js takes; others become 1 ms. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/**
 * What `UDPClusterManager` of `@imqueue/core` 2.0.26 tells a cluster, as its source has it: it
 * believes every datagram, and has one timer per guid, whatever the address.
 *
 * Time is virtual. What is told is returned as a list of `{ op, server, gone, datagram, timed }`:
 * the datagram is the one that was acted upon or, if `timed`, that had started the timer.
 */
class OriginalModel {
    #options;
    #now = 0;
    /** By guid: the datagram that counts for its deadline. */
    #alive = new Map();
    #timers = [];
    #told = [];
    #cluster = new StandInCluster((...told) => this.#note(...told));
    #cause;
    /** For each datagram that lost its timer, the one that took it. */
    superseded = new Map();

    /** @param {{ aliveTimeoutCorrection: number, useAliveCheck: boolean }} options */
    constructor(options) {
        this.#options = options;
    }

    handle(bytes, datagram) {
        const server = readByOriginal(bytes);

        this.#cause = { datagram, timed: false };
        if (server?.type === 'down') {
            this.#remove(server, datagram);
        } else if (server?.type === 'up') {
            if (!this.#cluster.find(server)) {
                this.#cluster.add(server);
            }
            this.#wait(server, datagram);
        }
        return this.#take();
    }

    /** Lets time pass, in which nothing arrives. */
    advance(ms) {
        this.#now += ms;
        this.#judge();
        return this.#take();
    }

    /** It is stopped for a while, and then reads what has arrived before it judges. */
    suspend(ms, read) {
        this.#now += ms;
        const told = read();
        this.#judge();
        return [...told, ...this.#take()];
    }

    #wait(server, datagram) {
        if (!this.#options.useAliveCheck) {
            return;
        }
        const delay = server.timeout + this.#options.aliveTimeoutCorrection + 1;
        const at = this.#now + (delay >= 1 && delay <= MAX_DELAY_MS ? delay : 1);

        this.#supersede(server.id, datagram);
        this.#alive.set(server.id, datagram);
        this.#timers.push({ at, server, datagram });
    }

    #remove(server, datagram) {
        this.#supersede(server.id, datagram);
        this.#alive.delete(server.id);
        this.#cluster.remove(server);
    }

    #supersede(id, datagram) {
        if (this.#alive.has(id)) {
            this.superseded.set(this.#alive.get(id), datagram);
        }
    }

    #judge() {
        const due = this.#timers.filter(({ at }) => at <= this.#now).sort((a, b) => a.at - b.at);

        this.#timers = this.#timers.filter(({ at }) => at > this.#now);
        for (const { server, datagram } of due) {
            if (this.#alive.get(server.id) === datagram) {
                this.#cause = { datagram, timed: true };
                this.#remove(server, datagram);
            }
        }
    }

    #note(op, server, gone = []) {
        this.#told.push({ op, server, gone, ...this.#cause });
    }

    #take() {
        return this.#told.splice(0);
    }
}

/**
 * How the original reads a datagram.
 *
 * @returns {object | undefined} what it passes on, whatever the type is; `undefined` when it dies:
 *     fewer than three fields leave it without a type, and that is an uncaught exception
 */
function readByOriginal(bytes) {
    const [name, id, type, address = '', interval = '0'] = bytes.toString().split('\t');

    if (type === undefined) {
        return undefined;
    }
    const [host, port] = address.split(':');
    const timeout = parseFloat(interval) * 1000;

    return { id, name, type: type.toLowerCase(), host, port: parseInt(port), timeout };
}

module.exports = { OriginalModel, readByOriginal };
