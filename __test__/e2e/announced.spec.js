'use strict';

// A service and a client of @imqueue/rpc with our manager, and others with that of @imqueue/core,
// by brokers on hosts of their own, from the first announcement to the crash: for everything that
// announces a Redis.

const { mkdirSync, mkdtempSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');

const { createScene } = require('../helpers/hosts-scene.js');
const { describeHosts } = require('../helpers/lan.js');

const INTERVAL = { REDIS_BROADCAST_INTERVAL: '0.5' };
const CORRECTION_MS = 500;

/** Hosts by number: one for each manager, two brokers, and the API of Kubernetes. */
const MEMBERS = { 1: 'ours', 2: 'core' };
const BROKERS = [3, 4];
const KUBERNETES = 5;

const [CRASHING, LEAVING] = BROKERS.map(number => `10.77.0.${number}:6379`);

describeHosts('a service and its client', () => {
    const scene = createScene(KUBERNETES);
    let directory;

    beforeEach(() => {
        directory = mkdtempSync(join(tmpdir(), 'imqueue-e2e-'));
        // Where clients leave their process ids, by which they tell their queues apart. Of two that
        // make this folder at once, one fails.
        mkdirSync(join(directory, '.imq-rpc'));
    });

    afterEach(() => rmSync(directory, { recursive: true, force: true }));

    it.each([
        ['the module promoter', redisWith('promoter.so', onHost)],
        ['the module unicaster', redisWith('unicaster.so', inPods)],
        ['imq-announcer broadcast', sidecarTo('broadcast', onHost)],
        ['imq-announcer kubernetes', sidecarTo('kubernetes', inPods)],
    ])('should use brokers that %s announces, until they leave or crash', async (_, start) => {
        const members = await Promise.all(Object.keys(MEMBERS).map(enter));
        const [crashing, leaving] = await start();
        await all(members, 'connected', CRASHING);
        await all(members, 'connected', LEAVING);
        for (const member of members) {
            expect(await usedBy(member)).toEqual([CRASHING, LEAVING]);
        }

        crashing.signal('SIGKILL');
        await all(members, 'removed', CRASHING);
        for (const member of members) {
            expect(await usedBy(member)).toEqual([LEAVING]);
        }

        leaving.signal('SIGTERM');
        await all(members, 'removed', LEAVING);
        const [ours] = members;
        expect(ours.lines.filter(({ event }) => event === 'removed')).toHaveLength(4);
    });

    async function enter(host) {
        const options = { kind: MEMBERS[host], aliveTimeoutCorrection: CORRECTION_MS };
        const env = { TMPDIR: directory };
        const member = scene.lan.run(host, 'rpc-process.js', options, { env });
        await member.line(({ event }) => event === 'started');
        return member;
    }

    /** By the module: the servers themselves are signalled. */
    function redisWith(module, place) {
        return async () => {
            const { env, within } = await place();
            const options = { env: { ...INTERVAL, ...env }, module, within };
            return Promise.all(BROKERS.map(host => scene.redis(host, options)));
        };
    }

    /** By the sidecar, of which a crash of its Redis is to be heard, and that is told to leave. */
    function sidecarTo(recipe, place) {
        return async () => {
            const servers = await redisWith(null, onHost)();
            const { env, within } = await place();
            const options = { env: { ...INTERVAL, ...env }, within };
            const sidecars = await Promise.all(
                BROKERS.map(host => scene.sidecar(host, [recipe], options)),
            );
            return [servers[0], sidecars[1]];
        };
    }

    function onHost() {
        return {};
    }

    function inPods() {
        return scene.kubernetes(KUBERNETES, Object.keys(MEMBERS));
    }
});

/** Resolves once service and client of each have said so of a broker. */
function all(members, wanted, broker) {
    const fits = line => line.event === wanted && line.broker === broker;
    return Promise.all(members.map(member => member.some(2, fits)));
}

/** The brokers that a few calls, one after the other, are sent by. */
async function usedBy(member) {
    const answers = () => member.lines.filter(({ event }) => event === 'answered');
    const before = { answers: answers().length, lines: member.lines.length };
    for (let number = 1; number <= 6; number += 1) {
        await member.ask(`call ${number}`);
        await member.some(before.answers + number, ({ event }) => event === 'answered');
        expect(answers().at(-1).answer).toBe(2 * number);
    }
    const sent = member.lines.slice(before.lines).filter(({ event }) => event === 'sent');
    return [...new Set(sent.map(({ broker }) => broker))].sort();
}
