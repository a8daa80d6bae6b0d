'use strict';

// `npm run demo -- --modules`, and the fleet that it makes: brokers that announce themselves.

const { spawn } = require('node:child_process');
const { once } = require('node:events');
const { existsSync, readFileSync, readdirSync } = require('node:fs');
const { createInterface } = require('node:readline');
const { setTimeout } = require('node:timers/promises');

const { Fleet } = require('../../demo/fleet.js');
const { now } = require('../../demo/support/clock.js');
const { modulePath } = require('../helpers/broker.js');
const { describeHosts } = require('../helpers/lan.js');
const { ROOT, runScript } = require('../helpers/run-node.js');

const INTERVAL_MS = 200;
const CORRECTION_MS = 300;

describeHosts('a fleet of brokers with the module promoter', () => {
    let fleet;

    afterEach(() => fleet?.close());

    it('should join, leave, come back and crash', async () => {
        fleet = new Fleet({
            interval: INTERVAL_MS / 1000,
            aliveTimeoutCorrection: CORRECTION_MS,
            module: modulePath('promoter.so'),
        });
        await fleet.start();
        const leaving = await fleet.addBroker('A');
        const crashing = await fleet.addBroker('B');
        await Promise.all([leaving, crashing].map(broker => fleet.reported('ready', broker)));
        expect(await used(fleet)).toEqual([leaving.address, crashing.address]);

        await leaving.sayGoodbye();
        await fleet.removed(leaving);
        expect(await used(fleet)).toEqual([crashing.address]);
        await leaving.stop();
        const { id } = leaving;
        await leaving.start();
        await leaving.announce();
        await fleet.reported('ready', leaving, leaving.startedAt);
        expect(leaving.id).not.toBe(id);
        expect(await used(fleet)).toEqual([leaving.address, crashing.address]);

        const at = await crashing.crash();
        for (const { at: removed } of await fleet.reported('remove', crashing, at)) {
            expect(removed - at).toBeGreaterThan(CORRECTION_MS - 50);
            expect(removed - at).toBeLessThan(INTERVAL_MS + CORRECTION_MS + 250);
        }
        await fleet.destroy();
        expect(await fleet.dissolve()).toEqual(Array(2).fill({ code: 0, signal: null }));
    });
});

describeHosts('npm run demo -- --modules', () => {
    let demo;

    afterEach(() => demo?.kill('SIGKILL'));

    it.each([['SIGINT', 130], ['SIGTERM', 143]])('should clean up at %s', async (signal, code) => {
        demo = spawn(process.execPath, ['demo', '--modules'], {
            cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'],
        });
        const ended = once(demo, 'close');
        for await (const line of createInterface({ input: demo.stdout })) {
            if (line.includes('A is added')) {
                break;
            }
        }
        const processes = childrenOf(demo.pid);
        expect(processes.length).toBeGreaterThanOrEqual(4);
        expect(namespacesOf(demo.pid)).not.toEqual([]);

        demo.kill(signal);
        // The second one of somebody who has no patience.
        demo.kill(signal);
        expect(await ended).toEqual([code, null]);
        expect(namespacesOf(demo.pid)).toEqual([]);
        await gone(processes);
    });
});

test.each([
    ['is not root', 'process.getuid = () => 1000', 'root'],
    ['is not on Linux', 'Object.defineProperty(process, "platform", { value: "darwin" })', 'Linux'],
])('npm run demo -- --modules says so where it %s', async (_, makeItSo, text) => {
    const run = `${makeItSo}; process.argv.push('--modules'); require('./demo')`;
    const { code, stderr } = await runScript(run);

    expect(code).toBe(1);
    expect(stderr).toMatch(new RegExp(`^demo: --modules .*${text}.*\n$`));
});

/** The brokers that a few calls, one after the other, go by. */
async function used(fleet) {
    return [...new Set(await fleet.client.ask('call', 10))].sort();
}

/** Resolves once none of them runs. Whoever adopted one may not have noticed yet that it ended. */
async function gone(processes, deadline = now() + 1000) {
    while (processes.some(pid => existsSync(`/proc/${pid}/exe`))) {
        if (now() > deadline) {
            throw new Error('a process is left');
        }
        await setTimeout(10);
    }
}

function namespacesOf(pid) {
    return readdirSync('/run/netns').filter(name => name.startsWith(`imq-${pid}-`));
}

/** All processes below one that runs: not those that end meanwhile. */
function childrenOf(pid) {
    try {
        return readdirSync(`/proc/${pid}/task`)
            .map(task => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8'))
            .flatMap(text => text.split(' ').filter(Boolean))
            .flatMap(child => [child, ...childrenOf(child)]);
    } catch {
        return [];
    }
}
