'use strict';

const { Broker } = require('./broker.js');
const { Ear } = require('./ear.js');
const { Sidecar } = require('./sidecar.js');
const { freePort } = require('./udp.js');

/** What reaches every listener of this host, and nobody else. */
const HERE = '127.255.255.255';

/**
 * Sets a Redis, a sidecar and an ear up for each test, as it asks for them, and takes them away.
 * Announcements stay on this host.
 */
function createScene() {
    const scene = {
        /** Starts a Redis without a module. */
        async redis(options) {
            const broker = await Broker.start({ module: null, ...options });
            scene.things.push(broker);
            return broker;
        },

        /**
         * Starts a sidecar.
         *
         * @param {Broker | string} redis - or its address
         * @param {string[]} [args]
         * @param {object} [options] - of the sidecar
         * @param {string[]} [recipe] - with its flags
         */
        async sidecar(redis, args = [], options = {}, recipe = ['unicast', '--to', scene.here]) {
            const address = redis.port ? `127.0.0.1:${redis.port}` : redis;
            const sidecar = await Sidecar.start([
                ...recipe, '--redis', address,
                ...args.includes('--advertise') ? [] : ['--advertise', '127.0.0.1'], ...args,
            ], options);
            scene.things.push(sidecar);
            return sidecar;
        },

        /** A Redis with its sidecar that is announced. */
        async announced(args, options) {
            const redis = await scene.redis(options);
            const sidecar = await scene.sidecar(redis, args);
            const up = await scene.ear.up({ address: `127.0.0.1:${redis.port}` });
            return { redis, sidecar, up };
        },
    };

    beforeEach(async () => {
        scene.port = await freePort();
        scene.here = `${HERE}:${scene.port}`;
        scene.ear = await Ear.open(scene.port);
        scene.things = [scene.ear];
    });

    afterEach(() => Promise.all(scene.things.map(thing => thing.close())));

    return scene;
}

module.exports = { HERE, createScene };
