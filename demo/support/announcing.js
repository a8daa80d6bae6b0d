'use strict';

const { Announcer } = require('imqueue-udp-cluster');

const { now } = require('./clock');

/** Announces a Redis from beside it. */
class OwnAnnouncer {
    #announcer;
    #interval;
    #redis;
    #udpPort;
    #warmUp;

    constructor(redis, { interval, udpPort }) {
        this.#redis = redis;
        this.#interval = interval;
        this.#udpPort = udpPort;
    }

    /**
     * The first announcer of a process loads the addon and starts its thread. That takes longer
     * than the way of a datagram, which is to be measured: so there is one before, to nobody.
     */
    async prepare() {
        this.#warmUp ??= this.#to('127.0.0.1:9');
        await this.#warmUp.start();
    }

    /** Every start gets an id of its own, as every start of a broker does. */
    async announce() {
        this.#announcer = this.#to(`127.255.255.255:${this.#udpPort}`);
        const at = now();
        await this.#announcer.start();
        return { at, id: this.#announcer.id };
    }

    async sayGoodbye() {
        const at = now();
        await this.#announcer.stop();
        return { at };
    }

    #to(destination) {
        const { host, port } = this.#redis;

        return new Announcer({
            host, port, interval: this.#interval, destinations: [destination],
        });
    }
}

/** The module promoter, by which a Redis announces itself as soon as it listens. */
class Module {
    #redis;

    constructor(redis) {
        this.#redis = redis;
    }

    /** What a redis-server has to be started with. */
    static arguments({ interval, module, udpPort }) {
        return [
            '--protected-mode', 'no',
            '--enable-module-command', 'local',
            '--loadmodule', module, 'interval', String(interval), 'port', String(udpPort),
        ];
    }

    async prepare() {}

    async announce() {
        const [, id] = await this.#redis.logged(/<promoter> announcing .*, id (\S+)/);
        return { at: now(), id };
    }

    /** As an operator does it: the Redis itself goes on, and is read dry. */
    async sayGoodbye() {
        const at = now();
        await this.#redis.command('MODULE', 'UNLOAD', 'promoter');
        return { at };
    }
}

module.exports = { Module, OwnAnnouncer };
