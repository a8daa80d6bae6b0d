'use strict';

const path = require('node:path');
const { mkdtempSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');

const { Announcer } = require('../index.js');
const { RedisServer } = require('../demo/support/redis.js');
const { createLogger } = require('./helpers/harness.js');
const { freePort } = require('./helpers/udp.js');
const { startService } = require('./helpers/queue-service.js');

/** The queue guard with a real broker: without it core 2.0.26 does not outlive these. */
describe('a service whose broker goes', () => {
    let directory;
    let announcer;
    let redis;
    let service;

    beforeEach(async () => {
        directory = mkdtempSync(path.join(tmpdir(), 'imqueue-udp-cluster-'));
        redis = new RedisServer({ dir: directory });
        await redis.start();

        const port = await freePort();
        service = startService({ port, aliveTimeoutCorrection: 200 });
        announcer = new Announcer({
            host: redis.host,
            port: redis.port,
            destinations: [`127.0.0.1:${port}`],
            interval: 0.1,
            logger: createLogger(),
        });
        await service.says('listening');
        await announcer.start();
        await service.says(`connected ${redis.port}`);
    });

    afterEach(async () => {
        await announcer.stop();
        service.child.kill('SIGKILL');
        await redis.stop();
        rmSync(directory, { recursive: true });
    });

    it.each([
        ['says so', () => announcer.stop().then(() => redis.stop())],
        ['crashes', () => Promise.all([redis.kill(), announcer.stop()])],
    ])('should go on when it %s, and end by itself', async (_, go) => {
        await go();
        await service.says(`removed ${redis.port}`);
        // A sleep to prove that nothing happens: the error came some 10 ms after the removal.
        await new Promise(resolve => setTimeout(resolve, 500));
        service.child.stdin.end();

        expect(await service.ended).toEqual([0, null]);
        expect(service.errors).not.toMatch(/Unhandled|Connection is closed/);
    });
});
