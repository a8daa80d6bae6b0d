'use strict';

// The client. The line that matters is `clusterManagers`; the rest lets the demo look inside.

const { setInterval, setTimeout } = require('node:timers/promises');
const { RustUDPClusterManager } = require('imqueue-udp-cluster');

const { CalculatorClient } = require('./support/calculator');
const { Ledger } = require('./support/ledger');
const { generate } = require('./support/load');
const { logger } = require('./support/logger');
const { observeManager, observeQueue } = require('./support/observe');
const { report, serve, settings } = require('./support/parent');

const manager = new RustUDPClusterManager({ ...settings.manager, logger });
observeManager(manager, report);

const client = new CalculatorClient({ clusterManagers: [manager], logger }, 'Calculator');
const ledger = new Ledger();
let load;

observeQueue(client.imq, {
    report,
    sending: (broker, { args: [number] }) => ledger.route(number, broker),
});

serve({
    start: () => client.start(),
    destroy: () => client.destroy(),

    /** So many calls, one after the other; their brokers. */
    async call(count) {
        const brokers = [];
        while (count-- > 0) {
            brokers.push((await ledger.call(number => client.double(number))).broker);
        }
        return brokers;
    },

    startLoad({ rate }) {
        const stop = new AbortController();
        const call = () => ledger.call(number => client.double(number)).catch(() => {});
        const done = Promise.all([generate(rate, call, stop.signal), tick(stop.signal)]);

        load = { stop, done };
    },

    /** Ends the load, waits for what is open, and tells what became of the calls. */
    async finishLoad({ patience }) {
        load.stop.abort();
        await load.done;
        await Promise.race([ledger.settled(), setTimeout(patience, undefined, { ref: false })]);
        return ledger.result();
    },
});

/** Once a second, how it goes. */
async function tick(signal) {
    try {
        for await (const _ of setInterval(1000, undefined, { signal })) {
            report('second', ledger.takeSecond());
        }
    } catch {
        // Aborted: the load is over.
    }
}
