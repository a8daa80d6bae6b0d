'use strict';

const { Broker } = require('./broker.js');
const { Ear } = require('./ear.js');
const { Lan } = require('./lan.js');
const { Sidecar } = require('./sidecar.js');

const PORT = 63_000;

/**
 * Sets hosts on a {@link Lan} up for each test, and on them what it asks for, and takes them away.
 *
 * @param {number} hosts - how many there are on the bridge
 * @param {object} [usual] - options of each Redis, as `Broker.start` takes them
 */
function createScene(hosts, usual) {
    const things = [];
    const keep = thing => {
        things.push(thing);
        return thing;
    };

    const scene = {
        /** Starts a Redis that other hosts may use. What it runs `within` is added to the host. */
        async redis(host, { config = [], within = [], ...options } = {}) {
            return keep(await Broker.start({
                config: ['--protected-mode', 'no', ...config],
                port: 6379,
                within: [...scene.lan.within(host), ...within],
                ...usual,
                ...options,
            }));
        },

        async sidecar(host, args, { env, within = [] } = {}) {
            return keep(await Sidecar.start(args, {
                env, within: [...scene.lan.within(host), ...within],
            }));
        },

        /**
         * Starts an API of Kubernetes on a host, with others as its pods. Resolves with what a
         * Redis or a sidecar takes to be in a pod, on any host.
         */
        async kubernetes(host, pods) {
            const api = scene.lan.run(host, 'kubernetes-api.js', { host: `10.77.0.${host}` });
            // It removes its files when it ends.
            keep({ close: () => api.end() });
            const { env } = await api.line(({ event }) => event === 'listening');
            const ask = async (...question) => (await api.ask(JSON.stringify(question))).value;
            for (const pod of pods) {
                await ask('setPod', `pod-${pod}`, { ip: `10.77.0.${pod}` });
            }
            return { env, within: await ask('inPod', []) };
        },

        /** What a host hears. */
        ear: host => Ear.open(PORT, { run: (...args) => scene.lan.run(host, ...args) }),

        /** Starts our manager and that of `@imqueue/core` on every host. */
        async listeners() {
            const everywhere = Array.from({ length: hosts }, (_, index) => index + 1);
            return [
                ...await scene.lan.listen(everywhere),
                ...await scene.lan.listen(everywhere, {}, { script: 'core-listen-process.js' }),
            ];
        },
    };

    beforeEach(() => {
        scene.lan = new Lan(hosts);
    });

    afterEach(async () => {
        await Promise.all(things.splice(0).map(thing => thing.close()));
        await scene.lan?.close();
    });

    return scene;
}

module.exports = { createScene };
