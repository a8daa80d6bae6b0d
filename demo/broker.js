'use strict';

// One broker, as on a host of its own: a redis-server and what announces it.

const { Announcer } = require('imqueue-udp-cluster');

const { RedisServer } = require('./support/redis');
const { now } = require('./support/clock');
const { serve, settings } = require('./support/parent');

const { dir, interval, port, udpPort } = settings;
const redis = new RedisServer({ dir, port });
let announcer;
let warmUp;

process.on('exit', () => redis.kill());

serve({
    async start() {
        await redis.start();
        // The first announcer of a process loads the addon and starts its thread. That takes longer
        // than the way of a datagram, which is to be measured: so there is one before, to nobody.
        warmUp ??= announcerTo('127.0.0.1:9');
        await warmUp.start();
        return redis.port;
    },

    /** Every start gets an id of its own, as every start of a broker does. */
    async announce() {
        announcer = announcerTo(`127.255.255.255:${udpPort}`);
        const at = now();
        await announcer.start();
        return { at, id: announcer.id };
    },

    async sayGoodbye() {
        const at = now();
        await announcer.stop();
        return { at };
    },

    async stop() {
        await redis.stop();
    },

    /** The power fails: neither has time for a last word. */
    crash() {
        redis.kill();
        process.kill(process.pid, 'SIGKILL');
    },
});

function announcerTo(destination) {
    return new Announcer({
        host: redis.host,
        port: redis.port,
        interval,
        destinations: [destination],
    });
}
