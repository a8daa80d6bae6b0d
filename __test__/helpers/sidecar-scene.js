'use strict';

const { createScene: createBrokerScene } = require('./broker-scene.js');
const { Sidecar } = require('./sidecar.js');

/** What reaches every listener of this host, and nobody else. */
const HERE = '127.255.255.255';

/** A broker scene in which no Redis has a module: sidecars are started as a test asks for them. */
function createScene() {
    const scene = createBrokerScene({ module: null });
    const here = () => `${HERE}:${scene.port}`;

    return Object.assign(scene, {
        /**
         * Starts a sidecar.
         *
         * @param {Broker | string} redis - or its address
         * @param {string[]} [args]
         * @param {object} [options] - of the sidecar
         * @param {string[]} [recipe] - with its flags
         */
        async sidecar(redis, args = [], options = {}, recipe = ['unicast', '--to', here()]) {
            const address = redis.address ?? redis;
            return scene.keep(await Sidecar.start([
                ...recipe, '--redis', address,
                ...args.includes('--advertise') ? [] : ['--advertise', '127.0.0.1'], ...args,
            ], options));
        },

        /** A Redis with its sidecar that is announced. */
        async announced(args, options) {
            const redis = await scene.redis(options);
            const sidecar = await scene.sidecar(redis, args);
            const up = await scene.ear.up({ address: redis.address });
            return { redis, sidecar, up };
        },
    });
}

module.exports = { HERE, createScene };
