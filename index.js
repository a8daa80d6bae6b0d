'use strict';

const { createFacade } = require('./lib/facade.js');
const { loadBinding } = require('./lib/binding.js');

const facade = createFacade(loadBinding);

// One assignment each: that is what lets ES modules import them by name.
exports.Announcer = facade.Announcer;
exports.DEFAULT_UDP_CLUSTER_MANAGER_OPTIONS = facade.DEFAULT_UDP_CLUSTER_MANAGER_OPTIONS;
exports.RustUDPClusterManager = facade.RustUDPClusterManager;
exports.UDPClusterManager = facade.RustUDPClusterManager;
exports.clusterOptions = facade.clusterOptions;
