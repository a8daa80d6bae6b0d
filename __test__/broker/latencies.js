'use strict';

// `node __test__/broker/latencies.js [times] [server]`: how long after a cause what is heard of a
// Redis with a module, in ms, over so many Redis servers (50). The module is the promoter, except
// where pods are told, which needs root. All on this machine.

const { Broker, modulePath, replicaOf } = require('../helpers/broker.js');
const { Ear } = require('../helpers/ear.js');
const { KubernetesApi } = require('../helpers/kubernetes-api.js');
const { monotonicNow } = require('../helpers/program.js');
const { freePort } = require('../helpers/udp.js');
const { noNamespaces } = require('../helpers/unless.js');

const KEYS = 1_000_000;
const PODS = 10_000;

const [times = 50, server = 'redis-server'] = process.argv.slice(2);

/** Each resolves with what it has measured, by name. */
const TRIALS = {
    async 'SHUTDOWN NOSAVE'(broker, ear) {
        const since = await broker.send('SHUTDOWN', 'NOSAVE');
        return { 'down after it': await down(ear, since), 'gone after it': await gone(broker, since) };
    },
    async SIGTERM(broker, ear) {
        const since = broker.signal('SIGTERM');
        return { 'down after it': await down(ear, since), 'gone after it': await gone(broker, since) };
    },
    async SIGINT(broker, ear) {
        const since = broker.signal('SIGINT');
        return { 'down after it': await down(ear, since), 'gone after it': await gone(broker, since) };
    },
    async 'SHUTDOWN while a replica lags'(broker, ear) {
        const replica = await Broker.start({ config: replicaOf(broker), module: null, server });
        try {
            await replica.logged('Finished with success');
            process.kill(replica.pid, 'SIGSTOP');
            await broker.call('SET', 'changed', '1');
            const since = await broker.send('SHUTDOWN', 'NOSAVE');
            return { 'down after it': await down(ear, since) };
        } finally {
            await replica.close();
        }
    },
    async 'MODULE UNLOAD'(broker, ear) {
        const since = monotonicNow();
        await broker.call('MODULE', 'UNLOAD', 'promoter');
        return { 'down after it': await down(ear, since) };
    },
    async 'MODULE LOAD'(broker, ear) {
        await broker.call('MODULE', 'UNLOAD', 'promoter');
        const since = monotonicNow();
        await broker.call('MODULE', 'LOAD', modulePath('promoter.so'));
        return { 'up after it': (await ear.up({}, since)).at - since };
    },
    async 'REPLICAOF NO ONE'(broker, ear) {
        await broker.call('REPLICAOF', '127.0.0.1', '1');
        await ear.down();
        const since = monotonicNow();
        await broker.call('REPLICAOF', 'NO', 'ONE');
        return { 'up after it': (await ear.up({}, since)).at - since };
    },
    async [`SHUTDOWN SAVE of ${KEYS} keys`](broker, ear) {
        await broker.call('DEBUG', 'POPULATE', String(KEYS));
        const since = await broker.send('SHUTDOWN', 'SAVE');
        return { 'down after it': await down(ear, since), 'gone after it': await gone(broker, since) };
    },
};

main();

async function main() {
    const results = new Map();
    const podless = noNamespaces('mount');
    const note = (name, value) => results.set(name, [...results.get(name) ?? [], value]);

    for (let count = 0; count < Number(times); count += 1) {
        for (const [name, trial] of Object.entries(TRIALS)) {
            const { joined, measured } = await once(trial);
            note('ready: up after it', joined);
            Object.entries(measured).forEach(([what, value]) => note(`${name}: ${what}`, value));
        }
        if (!podless) {
            const { told, ended } = await endWithPods();
            note(`SHUTDOWN NOSAVE, ${PODS} pods: last one told after it`, told);
            note(`SHUTDOWN NOSAVE, ${PODS} pods: gone after it`, ended);
        }
        note('SHUTDOWN NOSAVE without the module: gone after it', await endWithout('SHUTDOWN'));
        note('SIGTERM without the module: gone after it', await endWithout('SIGTERM'));
    }
    results.forEach(print);
    if (podless) {
        console.log(`nothing of pods: ${podless}`);
    }
}

async function once(trial) {
    const port = await freePort();
    const ear = await Ear.open(port);
    const broker = await Broker.start({ allowed: true, env: environment(port), server });
    try {
        const { at: ready } = await broker.logged('Ready to accept connections');
        const { at } = await ear.up();
        // The connection is there before the cause.
        await broker.call('PING');
        return { joined: at - ready, measured: await trial(broker, ear) };
    } finally {
        await Promise.all([broker.close(), ear.close()]);
    }
}

async function endWithPods() {
    const port = await freePort();
    const api = await KubernetesApi.start();
    const pods = Array.from({ length: PODS }, (_, number) => `127.1.${number >> 8}.${number & 255}`);
    pods.forEach((ip, number) => api.setPod(`pod-${number}`, { ip }));
    const ear = await Ear.open(port, { address: pods.at(-1) });
    const env = { ...api.env, ...environment(port) };
    const broker = await Broker.start({ env, module: 'unicaster.so', server, within: api.inPod([]) });
    try {
        await ear.up();
        const since = await broker.send('SHUTDOWN', 'NOSAVE');
        const { at } = await ear.goodbye({}, since);
        return { told: at - since, ended: await gone(broker, since) };
    } finally {
        await Promise.all([broker.close(), ear.close(), api.close()]);
    }
}

function environment(port) {
    return {
        REDIS_BROADCAST_INTERVAL: '600',
        REDIS_BROADCAST_PORT: String(port),
        SELECTED_INTERFACES: '127',
    };
}

async function endWithout(how) {
    const broker = await Broker.start({ module: null, server });
    try {
        await broker.call('PING');
        const since = how === 'SIGTERM' ? broker.signal(how) : await broker.send(how, 'NOSAVE');
        return await gone(broker, since);
    } finally {
        await broker.close();
    }
}

async function down(ear, since) {
    return (await ear.down({}, since, 60_000)).at - since;
}

async function gone(broker, since) {
    return (await broker.ended).at - since;
}

function print(values, name) {
    const sorted = [...values].sort((a, b) => a - b);
    const [least, median, most] = [0, sorted.length >> 1, sorted.length - 1]
        .map(place => sorted[place].toFixed(1).padStart(8));
    console.log(`${name.padEnd(52)} ${least} ${median} ${most}   (least, median, worst of ${sorted.length})`);
}
