'use strict';

// The service. The line that matters is `clusterManagers`; the rest lets the demo look inside.

require('reflect-metadata');
const { IMQService, expose } = require('@imqueue/rpc');
const { RustUDPClusterManager } = require('imqueue-udp-cluster');

const { logger } = require('./support/logger');
const { now } = require('./support/clock');
const { observeManager, observeQueue } = require('./support/observe');
const { report, serve, settings } = require('./support/parent');

class Calculator extends IMQService {
    double(number) {
        return 2 * number;
    }
}

// What TypeScript makes of `@expose() double(number: number): number`.
Reflect.defineMetadata('design:paramtypes', [Number], Calculator.prototype, 'double');
Reflect.defineMetadata('design:returntype', Number, Calculator.prototype, 'double');
expose()(
    Calculator.prototype,
    'double',
    Object.getOwnPropertyDescriptor(Calculator.prototype, 'double'),
);

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
