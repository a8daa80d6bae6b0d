'use strict';

const { createScene } = require('../helpers/pods-scene.js');
const { until } = require('../helpers/program.js');
const { nothingFor } = require('../helpers/said.js');

const scene = createScene();
let api;

beforeEach(async () => {
    api = await scene.api();
    api.setPod('web-1', { ip: '10.1.0.1' });
});

async function follow(options) {
    const follower = scene.follow(options);
    await follower.tells(['10.1.0.1']);
    await follower.says(/following/);
    return follower;
}

describe('that there are no pods any more', () => {
    test('is not believed when a watch tells it', async () => {
        const follower = await follow();
        api.removePod('web-1');
        const said = await follower.says(/no pod with an address in namespace prod/);
        expect(said).toContain('the last known addresses stay in use: 1');
        api.setPod('web-2', { ip: '10.1.0.2' });
        await follower.tells(['10.1.0.2']);
        expect(follower.told).toEqual([['10.1.0.1'], ['10.1.0.2']]);
    });

    test.each(['watching', 'polling'])('nor when a list tells it: %s', async mode => {
        if (mode === 'polling') {
            api.forbid('watch');
        }
        const follower = await follow();
        api.removePod('web-1');
        api.compact({ tell: true });
        await follower.says(/no pod with an address in namespace prod/);
        const lists = api.count('list');
        await until(() => mode === 'watching' || api.count('list') > lists + 1);
        api.setPod('web-2', { ip: '10.1.0.2' });
        await follower.tells(['10.1.0.2']);
        expect(follower.told).toEqual([['10.1.0.1'], ['10.1.0.2']]);
        expect(await follower.status()).toMatchObject({ mode });
    });
});

describe('a list that the API does not confirm', () => {
    test('is used for ever by default', async () => {
        const follower = await follow();
        await api.goAway();
        await follower.says(/cannot be reached/);
        await nothingFor(2000);
        expect(follower.told).toEqual([['10.1.0.1']]);
        expect(await follower.status()).toMatchObject({ pods: 1, mode: 'waiting' });
        expect((await follower.status()).age).toBeGreaterThan(1900);
    });

    test('is given up once it is older than allowed, until the API is back', async () => {
        const follower = await follow({ maxAge: 2000 });
        await api.goAway();
        const gone = await follower.tells([]);
        const said = await follower.says(/^all addresses are given up/);
        expect(said).toMatch(/^warn: .* not confirmed any for 2 s$/);
        expect(await follower.status()).toMatchObject({ pods: 0 });

        await api.comeBack();
        expect(await follower.tells(['10.1.0.1'])).toBeGreaterThan(gone);
    });

    test('is not old as long as it is watched and nothing happens', async () => {
        const follower = await follow({ maxAge: 1000 });
        await nothingFor(2500);
        expect(follower.told).toEqual([['10.1.0.1']]);
    });
});
