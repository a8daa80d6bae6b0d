'use strict';

const announcer = require('./announcer.js');
const clusterManager = require('./cluster-manager.js');
const { DEFAULT_UDP_CLUSTER_MANAGER_OPTIONS } = require('./options.js');
const { Environment } = require('./environment.js');
const { createClusterOptions } = require('./cluster-options.js');

/**
 * Makes what the package exports, on top of a native binding.
 *
 * @param {() => object} loadBinding - returns the binding; called on first use, so that importing
 *     the package never fails
 */
function createFacade(loadBinding) {
    const environment = new Environment(loadBinding);

    class RustUDPClusterManager extends clusterManager.ClusterManager {
        constructor(options) {
            super(environment, options);
        }
    }

    class Announcer extends announcer.Announcer {
        constructor(options) {
            super(environment, options);
        }
    }

    return {
        Announcer,
        DEFAULT_UDP_CLUSTER_MANAGER_OPTIONS,
        RustUDPClusterManager,
        clusterOptions: createClusterOptions(RustUDPClusterManager),
    };
}

exports.createFacade = createFacade;
