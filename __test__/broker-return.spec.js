'use strict';

const { mkdtempSync, rmSync } = require('node:fs');
const { join } = require('node:path');
const { once } = require('node:events');
const { setTimeout: pause } = require('node:timers/promises');
const { tmpdir } = require('node:os');

const { ClusteredRedisQueue } = require('@imqueue/core');

const { RedisServer } = require('../demo/support/redis.js');
const { createFleet } = require('./helpers/fleet.js');
const { createLogger } = require('./helpers/harness.js');

/** All queues of core for one Redis share the connection that they write to. */
describe('a service that is given a Redis which it has just lost', () => {
    let directory;
    let fleet;
    let queue;
    let servers;

    beforeEach(async () => {
        directory = mkdtempSync(join(tmpdir(), 'imqueue-udp-cluster-'));
        const args = ['--enable-debug-command', 'local'];
        const first = new RedisServer({ dir: directory, args });
        await first.start();
        servers = [first, new RedisServer({ dir: directory, host: '127.0.0.2', port: first.port })];
        await servers[1].start();

        fleet = await createFleet({ name: 'imq-broker', aliveTimeoutCorrection: 500 });
        queue = new ClusteredRedisQueue('test', {
            clusterManagers: [fleet.manager],
            logger: createLogger(),
        });
        await queue.start();
        await connects(() => up('id-1', 0));
    });

    afterEach(async () => {
        await queue.destroy();
        await Promise.all(servers.map(server => server.stop()));
        await fleet.close();
        rmSync(directory, { recursive: true });
    });

    const up = (id, place, interval = 60) => {
        const { host, port } = servers[place];
        return fleet.sender.up({ id, host, port, interval });
    };

    /** Resolves once a Redis is connected to. */
    async function connects(send) {
        // Private to core, but nothing else tells when a queue has its connections.
        const connected = once(queue.clusterEmitter, 'initialized');
        await send();
        await connected;
    }

    async function expectCallsThroughAll(count) {
        // A sleep to prove that nothing happens: what was being destroyed has been.
        await pause(500);
        expect(queue.servers).toHaveLength(count);
        const calls = queue.servers.map(({ imq }) => imq.send('test', {}));
        expect(await Promise.all(calls)).toEqual(Array(count).fill(expect.any(String)));
    }

    it('should reach it when it was frozen, and is heard before it answers', async () => {
        const lost = once(fleet.manager, 'remove');
        await up('id-1', 0, 0);
        queue.servers[0].imq.writer.call('DEBUG', 'SLEEP', '1');
        await lost;
        await connects(() => up('id-1', 0));
        await expectCallsThroughAll(1);
    });

    it('should reach it when its former id is given to another', async () => {
        await up('id-2', 0);
        const returned = connects(() => {});
        await connects(() => up('id-1', 1));
        await returned;
        await expectCallsThroughAll(2);
    });
});
