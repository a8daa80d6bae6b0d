'use strict';

const { createScene } = require('../helpers/pods-scene.js');
const { until } = require('../helpers/program.js');
const { nothingFor } = require('../helpers/said.js');

/** The longest pause between attempts, and the time that one of them may take. */
const RECOVERY_MS = 5000 + 1000;

const scene = createScene();
let api;

beforeEach(async () => {
    api = await scene.api();
    api.setPod('web-1', { ip: '10.1.0.1' });
});

/** What the API does, what is said of it, and how it comes right. */
const faults = [
    ['is away', /cannot be reached: .*refused/i, () => api.goAway(), () => api.comeBack()],
    ['fails (500)', /answers 500: on request; /, () => api.fail('all', { code: 500 })],
    ['is overloaded (503)', /answers 503: on request; /, () => api.fail('all', { code: 503 })],
    ['throttles (429)', /answers 429: Too many requests/, () => api.throttle('all', 1)],
    ['refuses the token (401)', /not accept the token of service account prod\/redis: Unautho/,
        () => api.rotateToken({ tell: false }), () => api.tellToken()],
    ['refuses everything (403)', /service account prod\/redis may not list pods in namespace prod/,
        () => api.forbid('all')],
    ['is another one, with a certificate of its own', /cannot be reached: .*certificate/,
        () => api.rotateAuthority({ tell: false }), () => api.tellAuthority()],
    ['answers with a web page', /answers nonsense: .*<html>/, () => api.nonsense('all', 'html')],
    ['answers with half of a text', /answers nonsense: /, () => api.nonsense('all', 'json')],
    ['answers with nothing', /answers nonsense: /, () => api.nonsense('list', 'empty')],
    ['answers with something else', /answers nonsense: a ServiceList is no list of pods/,
        () => api.nonsense('all', 'kind')],
    ['does not answer', /did not answer within 1s/, () => api.hang('all')],
    ['breaks off its answers', /cannot be reached: /, () => api.breakOff('list')],
];

describe.each(faults)('an API that %s', (_, says, begin, end = () => api.restore()) => {
    test('at first is asked again until it answers', async () => {
        await begin();
        const follower = scene.follow();
        const said = await follower.says(says);
        expect(said).toContain('there is no pod to announce to');
        expect(said).not.toContain('\n');
        expect(follower.told).toEqual([]);

        await end();
        await follower.tells(['10.1.0.1'], RECOVERY_MS);
        await follower.says(/^following the pods in namespace prod: 1 with an address$/);
    });

    test('later on takes no pod away, and what happened meanwhile is known after it', async () => {
        const follower = scene.follow();
        await until(() => api.watching === 1);
        await begin();
        // What has failed before shows no more; and a list is needed, too.
        api.compact({ tell: true });
        const said = await follower.says(says);
        expect(said).toMatch(/the last known addresses stay in use: 1, confirmed \d+ s ago/);
        api.setPod('web-2', { ip: '10.1.0.2' });

        await end();
        await follower.tells(['10.1.0.1', '10.1.0.2'], RECOVERY_MS);
        await follower.says(/^following the pods in namespace prod again, after \d+ s: 2 with/);
        expect(follower.told).toEqual([['10.1.0.1'], ['10.1.0.1', '10.1.0.2']]);
    });
});

describe('what shows nowhere but in the requests', () => {
    let follower;

    beforeEach(async () => {
        follower = scene.follow({ watch: 30_000 });
        await until(() => api.watching === 1);
    });

    afterEach(() => {
        expect(follower.said).toEqual([
            'info: following the pods in namespace prod: 1 with an address',
        ]);
    });

    test('a watch that is cut goes on, and nothing is lost', async () => {
        await nothingFor(1000);
        for (let number = 2; number <= 6; number += 1) {
            api.cut();
            api.setPod(`web-${number}`, { ip: `10.1.0.${number}` });
        }
        await follower.tells([1, 2, 3, 4, 5, 6].map(number => `10.1.0.${number}`));
        expect(api.count('list')).toBe(1);
    });

    test('pods are listed when the version to go on from was forgotten', async () => {
        await nothingFor(1000);
        api.compact();
        api.setPod('web-2', { ip: '10.1.0.2' });
        await follower.tells(['10.1.0.1', '10.1.0.2']);
        api.setPod('job-1', { ip: '10.1.0.9', phase: 'Succeeded' });
        api.compact();
        api.cut();
        api.removePod('web-1');
        await follower.tells(['10.1.0.2']);
        expect(api.count('list')).toBe(2);
    });

    test('and when a watch is told that it was forgotten', async () => {
        await nothingFor(1000);
        api.compact({ tell: true });
        api.setPod('web-2', { ip: '10.1.0.2' });
        await follower.tells(['10.1.0.1', '10.1.0.2']);
        expect(api.count('list')).toBe(2);
    });
});

test('a watch that went mute is replaced', async () => {
    const follower = scene.follow();
    await until(() => api.watching === 1);
    api.mute();
    api.setPod('web-2', { ip: '10.1.0.2' });
    // It would have ended after a second, and gets another one.
    await follower.says(/^the Kubernetes API fell silent in the middle of a watch; /);
    await follower.tells(['10.1.0.1', '10.1.0.2']);
    expect(api.count('list')).toBe(1);
});

test('a line that is no event does not stop it', async () => {
    const follower = scene.follow({ watch: 30_000 });
    await until(() => api.watching === 1);
    api.babble('<html>');
    await follower.says(/answers nonsense: .*<html>/);
    api.setPod('web-2', { ip: '10.1.0.2' });
    await follower.tells(['10.1.0.1', '10.1.0.2']);
});

test('an API that throttles is not asked before the time that it names', async () => {
    api.throttle('list', 2, 1);
    const follower = scene.follow();
    await follower.tells(['10.1.0.1']);
    const [first, second] = api.requests;
    expect(second.at - first.at).toBeGreaterThanOrEqual(2000);
});

test('the rest of a list that was forgotten is asked for anew', async () => {
    for (let number = 2; number <= 600; number += 1) {
        api.setPod(`web-${number}`, { ip: `10.2.${number >> 8}.${number & 255}` });
    }
    const follower = scene.follow();
    await until(() => api.count('list') === 1);
    api.compact();
    await until(() => follower.told.at(-1)?.length === 600);
});

test('a failure is one line, however often it is met', async () => {
    const follower = scene.follow();
    await until(() => api.watching === 1);
    api.fail('all', { code: 500 });
    await until(() => api.requests.filter(({ code }) => code === 500).length >= 5);
    expect(follower.said).toHaveLength(2);
    // Attempts come ever more rarely.
    const times = api.requests.filter(({ code }) => code === 500).map(({ at }) => at);
    const pauses = times.slice(1).map((at, index) => at - times[index]);
    expect(pauses.slice(1).every((pause, index) => pause > pauses[index])).toBe(true);
});
