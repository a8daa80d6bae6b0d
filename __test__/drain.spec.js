'use strict';

jest.mock('node:timers', () => require('./helpers/global-timers.js'));

const { mkdtempSync, rmSync } = require('node:fs');
const { once } = require('node:events');
const { join } = require('node:path');
const { tmpdir } = require('node:os');
const { setTimeout } = require('node:timers/promises');

const { ClusteredRedisQueue } = require('@imqueue/core');
const { Redis } = require('ioredis');

const { Announcer, RustUDPClusterManager } = require('../index.js');
const { RedisServer } = require('../demo/support/redis.js');
const { drainQueue } = require('../lib/drain.js');
const { createLogger } = require('./helpers/harness.js');
const { freePort } = require('./helpers/udp.js');

describe('drainQueue', () => {
    const DRAIN_MS = 250;
    let queue;
    let calls;

    beforeEach(() => {
        jest.useFakeTimers();
        calls = [];
        queue = { reader: { status: 'ready' } };
        for (const name of ['clear', 'removeAllListeners', 'stop']) {
            queue[name] = () => calls.push(name);
        }
    });

    afterEach(() => jest.useRealTimers());

    /** In the order of core 2.0.26. */
    async function destroy() {
        queue.removeAllListeners();
        await queue.stop();
        await queue.clear();
    }

    it('should put off what loses messages, and leave the list alone', async () => {
        drainQueue(queue);
        await destroy();
        jest.advanceTimersByTime(DRAIN_MS - 1);
        expect(calls).toEqual([]);

        jest.advanceTimersByTime(1);
        expect(calls).toEqual(['removeAllListeners', 'stop']);
    });

    it('should do nothing later that was not done at once', () => {
        drainQueue(queue);
        jest.advanceTimersByTime(DRAIN_MS);
        expect(calls).toEqual([]);
    });

    it('should leave the queue as it was', async () => {
        const before = { ...queue };
        drainQueue(queue);
        jest.advanceTimersByTime(DRAIN_MS);
        expect(queue).toEqual(before);
    });

    it('should do it once when two managers take the same queue away', async () => {
        const before = { ...queue };
        drainQueue(queue);
        drainQueue(queue);
        await destroy();
        jest.advanceTimersByTime(DRAIN_MS);
        expect(calls).toEqual(['removeAllListeners', 'stop']);
        expect(queue).toEqual(before);
    });

    it('should disconnect the reader, whose blocking read would take one more message', async () => {
        queue.reader.disconnect = jest.fn();
        drainQueue(queue);
        await destroy();
        expect(queue.reader.disconnect).not.toHaveBeenCalled();
        jest.advanceTimersByTime(DRAIN_MS);
        expect(queue.reader.disconnect.mock.calls).toEqual([[false]]);
    });

    it('should leave a reader alone that has ended: its disconnect would wait for two seconds', async () => {
        queue.reader.disconnect = jest.fn();
        drainQueue(queue);
        await destroy();
        queue.reader.status = 'end';
        jest.advanceTimersByTime(DRAIN_MS);
        expect(queue.reader.disconnect).not.toHaveBeenCalled();
    });

    it('should report what fails at last, and end nothing', async () => {
        const report = jest.fn();
        const [thrown, rejected] = [new Error('thrown'), new Error('rejected')];
        queue.removeAllListeners = () => { throw thrown; };
        queue.stop = async () => { throw rejected; };
        drainQueue(queue, report);
        await destroy();
        await jest.advanceTimersByTimeAsync(DRAIN_MS);
        expect(report.mock.calls).toEqual([[thrown], [rejected]]);
    });

    it('should not touch a queue that reads nothing', async () => {
        queue.reader.status = 'reconnecting';
        drainQueue(queue);
        await destroy();
        expect(calls).toEqual(['removeAllListeners', 'stop', 'clear']);
        expect(() => drainQueue(undefined)).not.toThrow();
        expect(() => drainQueue({})).not.toThrow();
    });
});

/** Without it core 2.0.26 loses all of these. */
describe('a broker that says goodbye', () => {
    const COUNT = 100;
    let announcer;
    let directory;
    let producer;
    let queue;
    let redis;

    beforeEach(async () => {
        directory = mkdtempSync(join(tmpdir(), 'imqueue-udp-cluster-'));
        redis = new RedisServer({ dir: directory });
        await redis.start();
        producer = new Redis({ host: redis.host, port: redis.port });
    });

    afterEach(async () => {
        await announcer.stop();
        await queue.destroy();
        producer.disconnect();
        await redis.stop();
        rmSync(directory, { recursive: true });
    });

    it('should still deliver what is pushed into it at that moment', async () => {
        const port = await freePort();
        const logger = createLogger();
        const manager = new RustUDPClusterManager({ port, logger });
        const messages = [];

        queue = new ClusteredRedisQueue('drained', { clusterManagers: [manager], logger });
        announcer = new Announcer({
            host: redis.host, port: redis.port, destinations: [`127.0.0.1:${port}`], logger,
        });
        const initialized = once(queue.clusterEmitter, 'initialized');
        const complete = new Promise(resolve => {
            queue.on('message', message => {
                if (messages.push(message.number) === COUNT) {
                    resolve();
                }
            });
        });
        await queue.start();
        await Promise.all([initialized, announcer.start()]);

        const [{ reader }] = queue.imqs;
        const removed = once(manager, 'remove');
        await announcer.stop();
        await removed;
        for (let number = 0; number < COUNT; number += 1) {
            const packet = { id: `${number}`, message: { number }, from: 'test' };
            producer.lpush('imq:drained', JSON.stringify(packet));
        }

        await complete;
        expect(messages).toEqual(Array.from({ length: COUNT }, (_, number) => number));
        // It has no listeners any more that could tell.
        while (reader.status !== 'end') {
            await setTimeout(10);
        }
        // Time for what fails then to be logged.
        await setTimeout(100);
        expect([...logger.error.mock.calls, ...logger.warn.mock.calls].join('\n'))
            .not.toMatch(/^RustUDPClusterManager.*failed/m);
    });
});
