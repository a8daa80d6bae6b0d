'use strict';

const { EventEmitter, once } = require('node:events');
const { join } = require('node:path');
const { setTimeout: sleep } = require('node:timers/promises');

const { Peer } = require('../../demo/support/peer.js');
const { now } = require('../../demo/support/clock.js');

/** How long the Redis of a broker outlives its goodbye, so that what is in flight in it arrives. */
const DRAIN_MS = 500;

/** A broker with a Redis of its own, always on the same port; each run is a process of its own. */
class RealBroker {
    #peer;
    #settings;
    kind = 'real';

    /** @param {object} settings - `{ dir, port, announcer }` of its processes */
    constructor(settings) {
        this.#settings = settings;
        this.endpoint = `127.0.0.1:${settings.port}`;
    }

    async ready() {}

    /** Starts a run; resolves with its guid once it is announced. */
    async join() {
        this.#peer = new Peer(join(__dirname, 'broker-process.js'), this.#settings);
        const { id } = await this.#peer.ask('join');
        return id;
    }

    /** Resolves once the goodbye is said. */
    leave() {
        return this.#peer.ask('leave');
    }

    /** What has to follow the goodbye. */
    async rest() {
        await sleep(DRAIN_MS);
        await this.#peer.ask('stop');
        await this.#peer.close();
    }

    async crash() {
        // There is no answer: the process dies of the question.
        this.#peer.ask('crash').catch(() => {});
        await this.#peer.exited;
    }

    /** What it wrote although nothing was wrong, as it should be. */
    get complaints() {
        return this.#peer?.stderr ?? '';
    }

    close() {
        return this.#peer?.close();
    }
}

/** A broker without a Redis: a thread in the process of its host. */
class StandIn {
    #host;
    kind = 'stand-in';

    constructor(host, port) {
        this.#host = host;
        this.port = port;
        this.endpoint = `127.0.0.1:${port}`;
    }

    /** The host it runs on, which emits `lost` when all of its brokers end at once. */
    get host() {
        return this.#host;
    }

    /** Resolves once it can join. */
    ready() {
        return this.#host.ready();
    }

    async join() {
        const { id } = await this.#host.ask('join', this.port);
        return id;
    }

    leave() {
        return this.#host.ask('leave', this.port);
    }

    async rest() {}

    crash() {
        return this.#host.ask('crash', this.port);
    }
}

/** The process of many stand-ins, which can lose power. */
class Host extends EventEmitter {
    #peer;
    #settings;
    #complaints = '';

    constructor(settings) {
        super();
        this.setMaxListeners(0);
        this.#settings = settings;
        this.#start();
    }

    /** Resolves once there is a process. */
    async ready() {
        if (!this.#peer) {
            await once(this, 'started');
        }
    }

    /** Asks its process. */
    async ask(command, argument) {
        if (!this.#peer) {
            throw new Error('the host has no power');
        }
        return this.#peer.ask(command, argument);
    }

    /** All of its brokers crash; after a while it can be used again. */
    async crash(pause) {
        const peer = this.#peer;
        const pid = await peer.ask('pid');

        this.#peer = undefined;
        process.kill(pid, 'SIGKILL');
        await peer.exited;
        this.#complaints += peer.stderr;
        this.emit('lost', now());
        await sleep(pause);
        this.#start();
    }

    get complaints() {
        return this.#complaints + (this.#peer?.stderr ?? '');
    }

    close() {
        return this.#peer?.close();
    }

    #start() {
        this.#peer = new Peer(join(__dirname, 'crowd-process.js'), this.#settings);
        this.emit('started');
    }
}

module.exports = { Host, RealBroker, StandIn };
