'use strict';

const { KubernetesApi } = require('./kubernetes-api.js');
const { Follower, podsProgram } = require('./pods.js');

const BUILD_MS = 600_000;

/**
 * Sets an API server of Kubernetes up for each test, and what follows its pods, as it asks for
 * them, and takes them away. What follows is built beforehand: a test has no time for that.
 */
function createScene() {
    const followers = [];
    let api;

    const keep = follower => {
        followers.push(follower);
        return follower;
    };

    beforeAll(podsProgram, BUILD_MS);

    afterEach(async () => {
        await Promise.all(followers.splice(0).map(follower => follower.kill()));
        await api.close();
    });

    return {
        /** Starts the API server. */
        async api(options) {
            api = await KubernetesApi.start(options);
            return api;
        },

        /** Starts what follows its pods, in one of these places. */
        follow: options => keep(Follower.start(api, options)),
        followInPod: options => keep(Follower.startInPod(api, options)),
        followOutside: () => keep(Follower.startOutside()),
    };
}

module.exports = { createScene };
