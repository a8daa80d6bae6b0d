'use strict';

// One broker, as on a host of its own: a redis-server and what announces it.

const { Module, OwnAnnouncer } = require('./support/announcing');
const { RedisServer } = require('./support/redis');
const { now } = require('./support/clock');
const { serve, settings } = require('./support/parent');

const { dir, host, module: file, port } = settings;
const redis = new RedisServer({ dir, host, port, args: file ? Module.arguments(settings) : [] });
const announcing = file ? new Module(redis) : new OwnAnnouncer(redis, settings);

process.on('exit', () => redis.kill());

serve({
    async start() {
        const at = now();
        await redis.start();
        await announcing.prepare();
        return { at, port: redis.port };
    },

    announce: () => announcing.announce(),
    sayGoodbye: () => announcing.sayGoodbye(),
    stop: () => redis.stop(),

    /** The power fails: neither has time for a last word. */
    crash() {
        redis.kill();
        process.kill(process.pid, 'SIGKILL');
    },
});
