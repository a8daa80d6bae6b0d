'use strict';

const { createScene } = require('../helpers/pods-scene.js');
const { monotonicNow, until } = require('../helpers/program.js');

const scene = createScene();
let api;

beforeEach(async () => {
    api = await scene.api();
});

async function follow(options) {
    const follower = scene.follow(options);
    await until(() => api.watching === 1);
    return follower;
}

const address = number => `10.1.${number >> 8}.${number & 255}`;

describe('which pods are announced to', () => {
    test('those with an address, each once, sorted', async () => {
        api.setPod('web-3', { ip: '10.1.0.20' });
        api.setPod('web-2', { ips: ['10.1.0.3', 'fd00::3'] });
        api.setPod('web-1');
        api.setPod('agent-1', { ip: '10.1.0.3', hostNetwork: true });
        const follower = await follow();
        await follower.tells(['10.1.0.3', '10.1.0.20', 'fd00::3']);
    });

    test('not those that have finished or are terminating', async () => {
        api.setPod('web-1', { ip: '10.1.0.1' });
        api.setPod('job-1', { ip: '10.1.0.2', phase: 'Succeeded' });
        api.setPod('job-2', { ip: '10.1.0.3', phase: 'Failed' });
        api.setPod('web-2', { ip: '10.1.0.4', terminating: true });
        const follower = await follow();
        await follower.tells(['10.1.0.1']);
    });

    test('those come and go', async () => {
        api.setPod('web-1', { ip: '10.1.0.1' });
        const follower = await follow();
        await follower.tells(['10.1.0.1']);
        api.setPod('web-2', { ip: '10.1.0.2' });
        await follower.tells(['10.1.0.1', '10.1.0.2']);
        api.setPod('web-1', { terminating: true });
        await follower.tells(['10.1.0.2']);
        api.setPod('job-1', { ip: '10.1.0.3' });
        await follower.tells(['10.1.0.2', '10.1.0.3']);
        api.setPod('job-1', { phase: 'Succeeded' });
        await follower.tells(['10.1.0.2']);
        api.setPod('web-3', { ip: '10.1.0.4' });
        await follower.tells(['10.1.0.2', '10.1.0.4']);
        api.removePod('web-2');
        await follower.tells(['10.1.0.4']);
    });

    test('those with the labels', async () => {
        api.setPod('web-1', { ip: '10.1.0.1', labels: { app: 'web' } });
        api.setPod('other-1', { ip: '10.1.0.2', labels: { app: 'other' } });
        const follower = await follow({ selector: 'app=web' });
        await follower.tells(['10.1.0.1']);
        api.setPod('web-2', { ip: '10.1.0.3', labels: { app: 'web' } });
        await follower.tells(['10.1.0.1', '10.1.0.3']);
        api.setPod('web-1', { labels: { app: 'moved' } });
        await follower.tells(['10.1.0.3']);
        expect(follower.said).toEqual([
            'info: following the pods in namespace prod with labels app=web: 1 with an address',
        ]);
    });

    test('those of all pages of a list', async () => {
        const pods = 1234;
        for (let number = 0; number < pods; number += 1) {
            api.setPod(`web-${number}`, { ip: address(number) });
        }
        const follower = await follow();
        await until(() => follower.told.length === 1);
        expect(follower.told[0]).toHaveLength(pods);
        expect(new Set(follower.told[0]).size).toBe(pods);
        expect(api.requests.map(({ verb, query }) => [verb, query.limit, !!query.continue]))
            .toEqual([
                ['list', '500', false],
                ['list', '500', true],
                ['list', '500', true],
                ['watch', undefined, false],
            ]);
    });
});

describe('how soon, and at what price', () => {
    test('a pod is known within 200 ms of getting its address', async () => {
        api.setPod('web-0', { ip: address(0) });
        const follower = await follow({ watch: 30_000 });
        const known = [address(0)];
        await follower.tells(known);

        const latencies = [];
        for (let number = 1; number <= 50; number += 1) {
            api.setPod(`web-${number}`);
            const begun = monotonicNow();
            api.setPod(`web-${number}`, { ip: address(number) });
            known.push(address(number));
            latencies.push(await follower.tells(known) - begun);
        }
        console.log(`worst of 50: ${Math.max(...latencies).toFixed(1)} ms`);
        expect(Math.max(...latencies)).toBeLessThan(200);
        expect(api.count('list')).toBe(1);
        expect(api.count('watch')).toBe(1);
    });

    test('a rollout of hundreds of pods is told in few steps', async () => {
        api.setPod('web-0', { ip: address(0) });
        const follower = await follow();
        await until(() => follower.told.length === 1);
        for (let number = 1; number <= 500; number += 1) {
            api.setPod(`web-${number}`, { ip: address(number) });
        }
        await until(() => follower.told.at(-1).length === 501);
        expect(follower.told.length).toBeLessThan(20);
    });

    test('a watch goes on where the last one was', async () => {
        api.setPod('web-1', { ip: '10.1.0.1' });
        const follower = await follow();
        await until(() => api.count('watch') === 2);
        api.setPod('web-2', { ip: '10.1.0.2' });
        await follower.tells(['10.1.0.1', '10.1.0.2']);
        await until(() => api.count('watch') === 4);

        expect(api.count('list')).toBe(1);
        expect(follower.told).toHaveLength(2);
        expect(follower.said).toHaveLength(1);
        const versions = api.requests.slice(1).map(({ query }) => Number(query.resourceVersion));
        expect(versions).toEqual([1001, 1001, 1002, 1002]);
    });

    test('bookmarks spare a list when the history is forgotten', async () => {
        api.setPod('web-1', { ip: '10.1.0.1' });
        const follower = await follow();
        // Nothing that it asks for has happened since, but for the bookmark at the end of the watch.
        api.setPod('job-1', { ip: '10.1.0.9', phase: 'Succeeded' });
        api.compact();
        await until(() => api.count('watch') === 2);
        api.setPod('web-2', { ip: '10.1.0.2' });
        await follower.tells(['10.1.0.1', '10.1.0.2']);
        expect(api.count('list')).toBe(1);
    });

    test('the status tells of pods, age and mode', async () => {
        api.hang('list');
        const waiting = scene.follow({ timeout: 5000 });
        expect(await waiting.status()).toMatchObject({ pods: 0, age: null, mode: 'waiting' });
        await waiting.kill();

        api.restore();
        api.setPod('web-1', { ips: ['10.1.0.1', 'fd00::1'] });
        const follower = await follow();
        await follower.tells(['10.1.0.1', 'fd00::1']);
        const status = await follower.status();
        expect(status).toMatchObject({ pods: 2, mode: 'watching' });
        expect(status.age).toBeLessThan(5000);
    });
});
