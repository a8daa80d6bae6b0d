'use strict';

// A real service of @imqueue/rpc.

const { RustUDPClusterManager } = require('../../index.js');
const { logger } = require('../../demo/support/logger.js');
const { now } = require('../../demo/support/clock.js');
const { observeQueue } = require('../../demo/support/observe.js');
const { serve, settings } = require('../../demo/support/parent.js');
const { Calculator } = require('../../demo/support/calculator.js');
const { follow, look } = require('./managers.js');

/** What was answered so long ago is not asked for any more. */
const MEMORY_MS = 30_000;

const manager = new RustUDPClusterManager({ ...settings.manager, logger });
/** Number of a call to what became of it here; the oldest first. */
const traces = new Map();
const service = new Calculator({
    clusterManagers: [manager],
    logger,
    beforeCall: async ({ args: [number] }) => {
        traces.set(number, { receivedAt: now() });
        forget();
    },
});

follow('service', manager);
observeQueue(service.imq, {
    report() {},
    sending: (broker, { request: { args: [number] } }) => {
        Object.assign(traces.get(number), { answeredBy: broker, answeredAt: now() });
    },
});

serve({
    pid: () => process.pid,
    start: async () => { await service.start(); },
    destroy: () => service.destroy(),
    look: () => [look('service', manager)],
    traces: numbers => numbers.map(number => traces.get(number) ?? {}),
});

function forget() {
    for (const [number, { receivedAt }] of traces) {
        if (receivedAt > now() - MEMORY_MS) {
            break;
        }
        traces.delete(number);
    }
}
