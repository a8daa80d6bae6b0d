'use strict';

const { readFileSync, readdirSync } = require('node:fs');
const { createServer } = require('node:net');
const { once } = require('node:events');

const { createScene } = require('../helpers/pods-scene.js');
const { until } = require('../helpers/program.js');
const { onLinux } = require('../helpers/unless.js');

/** How long whoever ends it may have to wait. */
const END_MS = 100;

const scene = createScene();
let api;

beforeEach(async () => {
    api = await scene.api();
    api.setPod('web-1', { ip: '10.1.0.1' });
});

describe('it ends at once', () => {
    test('while it watches', async () => {
        const follower = scene.follow();
        await follower.says(/following/);
        expect(await follower.end()).toBeLessThan(END_MS);
        await until(() => api.watching === 0);
    });

    test.each(['list', 'watch'])('while a %s is not answered', async verb => {
        api.hang(verb);
        const follower = scene.follow({ timeout: 60_000 });
        await until(() => api.count(verb) === 1);
        expect(await follower.end()).toBeLessThan(END_MS);
    });

    test('while it waits for its next attempt', async () => {
        api.throttle('list', 60);
        const follower = scene.follow();
        await follower.says(/answers 429/);
        expect(await follower.end()).toBeLessThan(END_MS);
    });

    test('while the connection is not secured', async () => {
        const server = createServer().listen(0, '127.0.0.1');
        const sockets = [];
        server.on('connection', socket => sockets.push(socket.on('error', () => {})));
        await once(server, 'listening');
        try {
            const url = `https://127.0.0.1:${server.address().port}`;
            const follower = scene.follow({ url, timeout: 60_000 });
            await until(() => sockets.length === 1);
            expect(await follower.end()).toBeLessThan(END_MS);
        } finally {
            sockets.forEach(socket => socket.destroy());
            server.close();
        }
    });
});

const testOnLinux = onLinux('only Linux shows threads and their signals as files', test);

testOnLinux('no signal lands in its thread, and it has only one', async () => {
    const follower = scene.follow();
    await follower.says(/following/);
    const tasks = `/proc/${follower.pid}/task`;
    const threads = readdirSync(tasks).map(id => readFileSync(`${tasks}/${id}/status`, 'utf8'));
    const [thread, ...others] = threads.filter(text => text.startsWith('Name:\timq-kubernetes'));

    expect(others).toEqual([]);
    const blocked = BigInt(`0x${/^SigBlk:\s*(\w+)$/m.exec(thread)[1]}`);
    const [SIGINT, SIGTERM] = [2n, 15n];
    for (const signal of [SIGINT, SIGTERM]) {
        expect(blocked >> (signal - 1n) & 1n).toBe(1n);
    }
    expect(threads).toHaveLength(2);
});

testOnLinux('many lives in one process leave nothing behind', async () => {
    const follower = scene.follow();
    await follower.says(/following/);
    const count = kind => readdirSync(`/proc/${follower.pid}/${kind}`).length;
    const [threads, files] = [count('task'), count('fd')];
    for (let life = 2; life <= 30; life += 1) {
        await follower.again();
        await follower.saysOften(life, /following/);
    }
    // The system lists a thread for a moment after it was joined.
    await until(() => count('task') === threads);
    // The list may have left its connection to the watch, or not yet.
    expect(Math.abs(count('fd') - files)).toBeLessThanOrEqual(1);
    await until(() => api.watching === 1);
});
