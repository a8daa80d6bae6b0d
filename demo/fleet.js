'use strict';

const { mkdtempSync, rmSync } = require('node:fs');
const { join } = require('node:path');
const { tmpdir } = require('node:os');

const { Lan } = require('../__test__/helpers/lan');
const { Peer } = require('./support/peer');
const { freeUdpPort } = require('./support/ports');
const { now } = require('./support/clock');

/** How long a broker stays up after its goodbye, so that what is in flight in it arrives. */
const DRAIN_MS = 500;

const REDIS_PORT = 6379;

/**
 * A fleet of brokers with a service and a client, each of them a process of its own. All of their
 * traffic stays on the loopback interface and on ports that nobody else uses; or, where brokers
 * announce themselves, on a bridge of hosts that are made for it.
 */
class Fleet {
    #closed = false;
    #directory = mkdtempSync(join(tmpdir(), 'imqueue-udp-cluster-'));
    #hosts = 0;
    #lan;
    #peers = [];
    #settings;

    udpPort;

    /** By name. */
    brokers = new Map();
    client;
    service;

    /**
     * @param {object} settings
     * @param {number} settings.interval - between two announcements of a broker, in seconds
     * @param {number} settings.aliveTimeoutCorrection - see `RustUDPClusterManager`
     * @param {string} [settings.module] - the module that brokers load to announce themselves
     */
    constructor(settings) {
        this.#settings = settings;
    }

    /** Starts the service and the client, which find no broker yet. */
    async start() {
        const { aliveTimeoutCorrection, module } = this.#settings;

        if (module) {
            this.#lan = new Lan(0);
        }
        this.udpPort = await freeUdpPort();
        const settings = {
            manager: { port: this.udpPort, aliveTimeoutCorrection },
        };
        this.service = this.#launch('service.js', settings, this.#addHost());
        this.client = this.#launch('client.js', settings, this.#addHost());
        await Promise.all(this.members.map(member => member.ask('start')));
    }

    /** Who has to find the brokers. */
    get members() {
        return [this.client, this.service];
    }

    /** Starts a broker, and announces it: on a port of its own, or where another one was. */
    async addBroker(name, port) {
        const { interval, module } = this.#settings;
        const host = this.#addHost();
        const peer = this.#launch('broker.js', {
            dir: join(this.#directory, name),
            host: host.address,
            interval,
            module,
            port: port ?? host.port,
            udpPort: this.udpPort,
        }, host);
        const broker = new Broker(name, host.address, peer);

        await broker.start();
        await broker.announce();
        this.brokers.set(name, broker);
        return broker;
    }

    /** What each member reports when it adds a broker. */
    added(broker) {
        return this.reported('add', broker, broker.startedAt);
    }

    /** What each member reports when it removes a broker that has said goodbye. */
    removed(broker) {
        return this.reported('remove', broker, broker.goodbyeAt);
    }

    /** What each member reports of a broker, at a certain moment or later. */
    reported(event, { address }, since = 0) {
        const fits = ({ broker, at }) => broker === address && at >= since;

        return Promise.all(this.members.map(member => member.reported(event, fits)));
    }

    /** Destroys the client and the service, as a program does before it ends. */
    async destroy() {
        await Promise.all(this.members.map(member => member.ask('destroy')));
    }

    /**
     * Stops all brokers, and waits for the members to end by themselves. Without brokers they do
     * so at once; the blocking reads of @imqueue/core outlive `destroy()` as long as a broker.
     *
     * @returns {Promise<{ code: number | null, signal: string | null }[]>} how the members ended
     */
    async dissolve() {
        const exits = Promise.all(this.members.map(member => member.retire()));
        const living = [...this.brokers.values()].filter(broker => broker.alive);

        await Promise.all(living.map(broker => broker.stop()));
        return exits;
    }

    /** Ends all processes and removes all files, at any time and in any state. */
    async close() {
        this.#closed = true;
        await Promise.all(this.#peers.map(peer => peer.close()));
        await this.#lan?.close();
        rmSync(this.#directory, { recursive: true, force: true });
    }

    /** Where the next process is to be. */
    #addHost() {
        if (this.#closed) {
            throw new Error('the fleet is closed');
        }
        if (!this.#lan) {
            return { address: '127.0.0.1' };
        }
        const number = ++this.#hosts;

        this.#lan.addHost(number);
        this.#lan.plug(number, 0);
        return {
            address: `10.77.0.${number}`, port: REDIS_PORT, within: this.#lan.within(number),
        };
    }

    #launch(file, settings, { within }) {
        // Clients of @imqueue/rpc leave their process id in the directory for temporary files.
        const env = { TMPDIR: this.#directory };
        const peer = new Peer(join(__dirname, file), settings, env, within);

        this.#peers.push(peer);
        return peer;
    }
}

/** One broker: a redis-server and its announcer, which live and die together. */
class Broker {
    #peer;

    alive = true;

    constructor(name, host, peer) {
        this.name = name;
        this.host = host;
        this.#peer = peer;
    }

    get address() {
        return `${this.host}:${this.port}`;
    }

    /** Resolves once its Redis accepts connections. */
    async start() {
        const { at, port } = await this.#peer.ask('start');

        this.startedAt = at;
        this.port = port;
    }

    /** Resolves once it has been announced for the first time, under a new id. */
    async announce() {
        const { at, id } = await this.#peer.ask('announce');

        this.announcedAt = at;
        this.id = id;
    }

    /** Tells everybody that it leaves; its Redis goes on. */
    async sayGoodbye() {
        this.goodbyeAt = (await this.#peer.ask('sayGoodbye')).at;
    }

    /** Stops its Redis. */
    async stop() {
        await this.#peer.ask('stop');
    }

    /** Kills its Redis and its announcer without a goodbye. Returns when. */
    async crash() {
        const at = now();

        this.alive = false;
        // There is no answer: the process dies of the question.
        this.#peer.ask('crash').catch(() => {});
        await this.#peer.exited;
        return at;
    }
}

module.exports = { DRAIN_MS, Fleet };
