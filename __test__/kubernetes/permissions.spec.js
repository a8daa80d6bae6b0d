'use strict';

const { readFileSync, rmSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

const { createScene } = require('../helpers/pods-scene.js');
const { until } = require('../helpers/program.js');
const { noNamespaces, unless } = require('../helpers/unless.js');

/** A pod's files stand at fixed places. */
const testInPod = unless(noNamespaces('mount'), test);

const scene = createScene();
let api;

beforeEach(async () => {
    api = await scene.api({ namespace: 'team-1', serviceAccount: 'broker' });
    api.setPod('web-1', { ip: '10.1.0.1' });
});

describe('a service account that may only list', () => {
    let follower;

    beforeEach(() => {
        api.forbid('watch');
        follower = scene.follow();
    });

    test('has pods listed every so often, which is said once', async () => {
        await follower.tells(['10.1.0.1']);
        api.setPod('web-2', { ip: '10.1.0.2' });
        await follower.tells(['10.1.0.1', '10.1.0.2']);
        await until(() => api.count('list') === 6);

        expect(follower.said).toEqual([
            expect.stringMatching(/^warn: service account team-1\/broker may not watch pods in namespace team-1: grant it the verb watch .* listed every 500ms/),
            'info: following the pods in namespace team-1: 1 with an address',
        ]);
        expect(await follower.status()).toMatchObject({ mode: 'polling', pods: 2 });
        // It is not asked for what it refuses with each list.
        expect(api.count('watch')).toBe(1);
        const times = api.requests.filter(({ verb }) => verb === 'list').map(({ at }) => at);
        expect(times.at(-1) - times[0]).toBeGreaterThan(5 * 490);
    });

    test('has them watched once it may', async () => {
        await follower.tells(['10.1.0.1']);
        await until(() => api.count('list') === 3);
        // After an outage it finds out anew, and otherwise once a minute.
        api.restore();
        api.fail('list', { code: 500, times: 1 });
        await follower.says(/the pods in namespace team-1 may be watched now/);
        expect(await follower.status()).toMatchObject({ mode: 'watching' });
    });
});

test('a missing permission is one line that names all there is to grant', async () => {
    api.forbid('all');
    const follower = scene.follow();
    const said = await follower.says(/may not/);
    expect(said).toMatch(/^error: service account team-1\/broker may not list pods in namespace team-1: grant it the verb list on the resource pods there, by a Role and a RoleBinding \(pods is forbidden: .*\); there is no pod to announce to$/);
    await until(() => api.count('list') >= 3);
    expect(follower.said).toHaveLength(1);
});

test('a namespace without any pod is named', async () => {
    const follower = scene.follow({ namespace: 'nowhere' });
    const said = await follower.says(/no pod/);
    expect(said).toBe('warn: there is no pod with an address in namespace nowhere;'
        + ' there is no pod to announce to');
});

test('a token that is replaced is used at once', async () => {
    const follower = scene.follow();
    await until(() => api.watching === 1);
    api.rotateToken();
    await until(() => api.count('watch') === 3);
    api.setPod('web-2', { ip: '10.1.0.2' });
    await follower.tells(['10.1.0.1', '10.1.0.2']);
    expect(api.requests.filter(({ code }) => code === 401)).toEqual([]);
    expect(follower.said).toHaveLength(1);
});

test('line breaks around a token do not matter', async () => {
    const file = join(api.files, 'token');
    writeFileSync(file, ` ${readFileSync(file, 'utf8')}\n`);
    const follower = scene.follow();
    await follower.tells(['10.1.0.1']);
});

describe('in a pod', () => {
    testInPod('the service account and the environment are all that it needs', async () => {
        const follower = scene.followInPod();
        await follower.tells(['10.1.0.1']);
        api.setPod('web-2', { ip: '10.1.0.2' });
        await follower.tells(['10.1.0.1', '10.1.0.2']);
        expect(follower.said).toEqual([
            'info: following the pods in namespace team-1: 1 with an address',
        ]);
    });

    testInPod('another namespace may be named', async () => {
        const follower = scene.followInPod({ namespace: 'team-2' });
        await follower.says(/no pod with an address in namespace team-2/);
    });

    testInPod('certificate and token may be replaced', async () => {
        const follower = scene.followInPod({ watch: 1000 });
        await follower.tells(['10.1.0.1']);
        api.rotateToken();
        api.rotateAuthority();
        api.setPod('web-2', { ip: '10.1.0.2' });
        await follower.tells(['10.1.0.1', '10.1.0.2']);
    });

    testInPod('files that are missing are named, and waited for', async () => {
        rmSync(join(api.files, 'ca.crt'));
        const follower = scene.followInPod();
        await follower.says(/^the service account cannot be read: .*; there is no pod to announce/);
        api.tellAuthority();
        await follower.tells(['10.1.0.1']);
    });
});

test('outside of any pod it says so', async () => {
    const follower = scene.followOutside();
    const said = await follower.says(/service account/);
    expect(said).toMatch(/^error: the service account cannot be read: .*environment variable/);
});
