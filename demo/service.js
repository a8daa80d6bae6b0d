'use strict';

// The service. The line that matters is `clusterManagers`; the rest lets the demo look inside.

const { RustUDPClusterManager } = require('imqueue-udp-cluster');

const { Calculator } = require('./support/calculator');
const { logger } = require('./support/logger');
const { now } = require('./support/clock');
const { observeManager, observeQueue } = require('./support/observe');
const { report, serve, settings } = require('./support/parent');

const manager = new RustUDPClusterManager({ ...settings.manager, logger });
observeManager(manager, report);

const traces = new Map();
const service = new Calculator({
    clusterManagers: [manager],
    logger,
    beforeCall: async ({ args: [number] }) => {
        traces.set(number, { receivedAt: now() });
    },
});

observeQueue(service.imq, {
    report,
    sending: (broker, { request: { args: [number] } }) => {
        Object.assign(traces.get(number), { answeredBy: broker, answeredAt: now() });
    },
});

serve({
    start: async () => { await service.start(); },
    destroy: () => service.destroy(),
    traces: numbers => numbers.map(number => traces.get(number) ?? {}),
});
