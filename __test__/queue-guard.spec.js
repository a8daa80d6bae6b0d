'use strict';

jest.mock('node:timers', () => require('./helpers/global-timers.js'));

const { EventEmitter, errorMonitor } = require('node:events');

const { aServer, createCluster, createHarness, settle } = require('./helpers/harness.js');

describe('queue guard', () => {
    let harness;
    let manager;
    let queue;

    beforeEach(() => {
        harness = createHarness();
        manager = harness.createManager();
        queue = new EventEmitter();
    });

    afterEach(() => manager.destroy());

    /** Has a cluster return a queue for a broker. */
    function give(wrap = record => record) {
        manager.init(createCluster({ add: server => wrap({ ...server, imq: queue }) }));
        harness.listener.adds(aServer(1)).wake();
    }

    it('should log an error that nobody listens for, naming the broker', () => {
        give();

        expect(queue.emit('error', new Error('Connection is closed.'))).toBe(false);
        expect(harness.logger.warn).toHaveBeenCalledTimes(1);
        expect(harness.logger.warn).toHaveBeenCalledWith(
            expect.stringMatching(/queue of 10\.0\.0\.1:6379 failed.*Connection is closed\./),
        );
    });

    it('should guard a queue that a promise resolves to', async () => {
        give(async record => record);
        await settle();

        expect(() => queue.emit('error', new Error('gone'))).not.toThrow();
    });

    it('should guard a queue that the cluster had already', () => {
        manager.init(createCluster({ find: server => ({ ...server, imq: queue }) }));
        harness.listener.adds(aServer(1)).wake();

        expect(() => queue.emit('error', new Error('gone'))).not.toThrow();
    });

    it('should survive that the queue drops all listeners', () => {
        give();
        queue.on('error', () => {});
        queue.removeAllListeners();

        expect(() => queue.emit('error', new Error('gone'))).not.toThrow();
    });

    it('should survive the end of the manager', async () => {
        give();
        await manager.destroy();

        expect(() => queue.emit('error', new Error('gone'))).not.toThrow();
    });

    it('should leave an error to those who listen for it', () => {
        const onError = jest.fn();
        const error = new Error('mine');
        give();
        queue.on('error', onError);

        expect(queue.emit('error', error, 'name')).toBe(true);
        expect(onError).toHaveBeenCalledWith(error, 'name');
        expect(harness.logger.warn).not.toHaveBeenCalled();
    });

    it('should show errors to a monitor', () => {
        const monitor = jest.fn();
        const error = new Error('seen');
        give();
        queue.on(errorMonitor, monitor);

        queue.emit('error', error);

        expect(monitor.mock.calls).toEqual([[error]]);
    });

    it('should pass every other event untouched', () => {
        const onMessage = jest.fn(function onMessage() {
            expect(this).toBe(queue);
        });
        give();
        queue.on('message', onMessage);

        expect(queue.emit('message', { a: 1 }, 'id', 'from')).toBe(true);
        expect(queue.emit('nobody')).toBe(false);
        expect(onMessage).toHaveBeenCalledWith({ a: 1 }, 'id', 'from');
    });

    it('should wrap a queue once, however many clusters return it', () => {
        give();
        const { emit } = queue;
        give();

        expect(queue.emit).toBe(emit);
        expect(Object.keys(queue)).not.toContain('emit');
    });

    it('should write one line a minute, with a count', () => {
        jest.useFakeTimers();
        try {
            give();
            for (let count = 0; count < 5; count += 1) {
                queue.emit('error', new Error(`number ${count}`));
            }
            jest.advanceTimersByTime(60_000);

            const lines = harness.logger.warn.mock.calls.map(([line]) => line);
            expect(lines).toHaveLength(2);
            expect(lines[0]).toMatch(/number 0$/);
            expect(lines[1]).toMatch(/number 4 \(and 3 more like it within a minute\)$/);
        } finally {
            jest.useRealTimers();
        }
    });

    it.each([
        ['undefined', undefined],
        ['a record without a queue', {}],
        ['a queue that is no emitter', { imq: { emit() {} } }],
        ['a queue that cannot be changed', { imq: Object.freeze(new EventEmitter()) }],
        ['a string', 'added'],
    ])('should not mind %s', (_, result) => {
        manager.init(createCluster({ add: () => result }));
        harness.listener.adds(aServer(1)).wake();

        expect(harness.logger.error).not.toHaveBeenCalled();
    });
});
