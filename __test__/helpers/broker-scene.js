'use strict';

const { Broker } = require('./broker.js');
const { Ear } = require('./ear.js');
const { freePort } = require('./udp.js');

/**
 * How soon a module says goodbye: sooner than Redis itself looks after signals, every 100 ms. On a
 * quiet machine it is one, or eleven while Redis writes an append-only file.
 */
const AT_ONCE_MS = 90;

/**
 * Sets an ear up for each test, and each Redis that it asks for, and takes them away. Announcements
 * stay on this host.
 *
 * @param {object} [usual] - options of each Redis, as `Broker.start` takes them
 */
function createScene({ env: usualEnv, ...usual } = {}) {
    const things = [];

    const scene = {
        /** Takes something away after the test. Returns it. */
        keep(thing) {
            things.push(thing);
            return thing;
        },

        /** Starts a Redis. Its environment is added to the usual one. */
        async redis({ env, ...options } = {}) {
            return scene.keep(await Broker.start({
                ...usual,
                ...options,
                env: {
                    REDIS_BROADCAST_PORT: String(scene.port),
                    SELECTED_INTERFACES: '127',
                    ...usualEnv,
                    ...env,
                },
            }));
        },
    };

    beforeEach(async () => {
        scene.port = await freePort();
        scene.ear = scene.keep(await Ear.open(scene.port));
    });

    afterEach(() => Promise.all(things.splice(0).map(thing => thing.close())));

    return scene;
}

module.exports = { AT_ONCE_MS, createScene };
