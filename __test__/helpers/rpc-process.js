'use strict';

// A service of @imqueue/rpc and its client, which find their brokers by one manager: `ours`, or the
// one of @imqueue/`core`. Prints what they are `connected` to, what was `removed`, and by which
// broker each call was `sent`, and `answered`; ends when its standard input does.

const { UDPClusterManager } = require('@imqueue/core');

const { RustUDPClusterManager } = require('../../index.js');
const { observeQueue } = require('../../demo/support/observe.js');
const { Calculator, CalculatorClient } = require('../../demo/support/calculator.js');
const { answerQuestions, print } = require('./talk.js');

const silent = { log() {}, info() {}, warn() {}, error() {} };
const MANAGERS = {
    core: settings => new UDPClusterManager(settings),
    ours: settings => new RustUDPClusterManager({ logger: silent, ...settings }),
};

const { kind, ...settings } = JSON.parse(process.argv[2]);
const options = { clusterManagers: [MANAGERS[kind](settings)], logger: silent };
const service = new Calculator(options, kind);
const client = new CalculatorClient(options, kind);

if (kind === 'core') {
    // The queue of a broker that goes emits an error without a listener. Ours guards against that.
    process.on('uncaughtException', ({ message }) => print('uncaught', { message }));
}
observe('service', service.imq);
observe('client', client.imq, {
    sending: (broker, { args: [number] }) => print('sent', { broker, number }),
});

Promise.all([service.start(), client.start()]).then(() => print('started'));

answerQuestions({
    call(number) {
        client.double(Number(number)).then(answer => print('answered', { answer }));
    },
}).then(() => process.exit());

function observe(who, queue, { sending = () => {} } = {}) {
    const report = (change, { broker }) => print('connected', { who, broker });

    observeQueue(queue, { report, sending });
    queue.clusterEmitter.on('remove', ({ server: { host, port } }) => {
        print('removed', { who, broker: `${host}:${port}` });
    });
}
