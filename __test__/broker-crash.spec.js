'use strict';

const path = require('node:path');
const { mkdtempSync, rmSync } = require('node:fs');
const { setTimeout: pause } = require('node:timers/promises');
const { tmpdir } = require('node:os');

const { RedisServer } = require('../demo/support/redis.js');
const { Sender, freePort } = require('./helpers/udp.js');
const { startService } = require('./helpers/queue-service.js');

/** A broker that is gone without a goodbye leaves clients behind that try to reconnect. */
describe('a service whose broker crashes', () => {
    let announcing;
    let directory;
    let redis;
    let sender;
    let service;

    beforeEach(async () => {
        directory = mkdtempSync(path.join(tmpdir(), 'imqueue-udp-cluster-'));
        redis = new RedisServer({ dir: directory });
        await redis.start();
    });

    afterEach(async () => {
        clearInterval(announcing);
        sender.close();
        service.child.kill('SIGKILL');
        await redis.stop();
        rmSync(directory, { recursive: true });
    });

    /** Starts the service with these options and, once it uses the broker, kills that. */
    async function crash(options) {
        const port = await freePort();
        const broker = { host: redis.host, port: redis.port, interval: 0.1 };
        sender = new Sender(port);
        service = startService({ port, ...options });
        await service.says('listening');
        announcing = setInterval(() => sender.up(broker), 100);
        await service.says(`connected ${redis.port}`);

        clearInterval(announcing);
        redis.kill();
    }

    it('should lose it once, go on, and end by itself', async () => {
        await crash({ aliveTimeoutCorrection: 300 });
        await service.says(`removed ${redis.port}`);
        // A sleep to prove that nothing happens: another two deadlines.
        await pause(800);
        service.child.stdin.end();

        expect(await service.ended).toEqual([0, null]);
        expect(service.lines.match(/removed/g)).toHaveLength(1);
        expect(service.errors).not.toMatch(/Unhandled|Connection is closed/);
    });

    it('should end by itself while a client waits to reconnect', async () => {
        await crash({ aliveTimeoutCorrection: 60_000 });
        // Long enough for some attempts, the pauses between which become longer.
        await pause(1000);
        service.child.stdin.end();

        expect(await service.ended).toEqual([0, null]);
        expect(service.lines).not.toMatch(/removed/);
        expect(service.errors).not.toMatch(/Unhandled|Connection is closed/);
    });
});
