'use strict';

// A broker as on a host of its own: a redis-server and what announces it.

const { Announcer } = require('../../index.js');
const { RedisServer } = require('../../demo/support/redis.js');
const { serve, settings } = require('../../demo/support/parent.js');

const { dir, port, announcer: options } = settings;
const redis = new RedisServer({ dir, port });
let announcer;

process.on('exit', () => redis.kill());

serve({
    pid: () => process.pid,
    /** Starts Redis, announces it, and returns its guid and port. */
    async join() {
        await redis.start();
        announcer = new Announcer({ host: redis.host, port: redis.port, ...options });
        await announcer.start();
        return { id: announcer.id, port: redis.port };
    },

    /** Says goodbye; Redis goes on until `stop`. */
    leave: () => announcer.stop(),
    stop: () => redis.stop(),

    /** The power fails: neither has time for a last word. */
    crash() {
        redis.kill();
        process.kill(process.pid, 'SIGKILL');
    },
});
