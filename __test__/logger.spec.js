'use strict';

jest.mock('node:timers', () => require('./helpers/global-timers.js'));

const { ThrottledLogger } = require('../lib/logger.js');
const { createLogger } = require('./helpers/harness.js');

describe('ThrottledLogger', () => {
    let logger;
    let throttled;

    beforeEach(() => {
        jest.useFakeTimers();
        logger = createLogger();
        throttled = new ThrottledLogger(logger, 'Test');
    });

    afterEach(() => jest.useRealTimers());

    const lines = level => logger[level].mock.calls.map(([line]) => line);

    it('should write lines with its prefix, at their level', () => {
        throttled.write('info', 'one');
        throttled.write('info', 'one');

        expect(lines('info')).toEqual(['Test: one', 'Test: one']);
    });

    it('should write the first line of a cause at once and hold back the next', () => {
        throttled.report('warn', 'a', 'one');
        throttled.report('warn', 'a', 'two');

        expect(lines('warn')).toEqual(['Test: one']);
    });

    it('should write the last line held back after a minute, with a count of the others', () => {
        throttled.report('warn', 'a', 'one');
        throttled.report('warn', 'a', 'two');
        throttled.report('warn', 'a', 'three');
        throttled.report('error', 'a', 'four');

        jest.advanceTimersByTime(59_999);
        expect(lines('error')).toEqual([]);
        jest.advanceTimersByTime(1);
        expect(lines('error')).toEqual(['Test: four (and 2 more like it within a minute)']);
    });

    it('should stay quiet for a minute after that, too', () => {
        throttled.report('warn', 'a', 'one');
        throttled.report('warn', 'a', 'two');
        jest.advanceTimersByTime(60_000);

        throttled.report('warn', 'a', 'three');
        expect(lines('warn')).toEqual(['Test: one', 'Test: two']);
        jest.advanceTimersByTime(60_000);
        expect(lines('warn')).toEqual(['Test: one', 'Test: two', 'Test: three']);
    });

    it('should write at once again after a quiet minute', () => {
        throttled.report('warn', 'a', 'one');
        jest.advanceTimersByTime(60_000);
        throttled.report('warn', 'a', 'two');

        expect(lines('warn')).toEqual(['Test: one', 'Test: two']);
    });

    it('should keep causes apart', () => {
        throttled.report('warn', 'a', 'one');
        throttled.report('warn', 'b', 'two');

        expect(lines('warn')).toEqual(['Test: one', 'Test: two']);
    });

    it('should run no timer while nothing is held back, and none that keeps the process up', () => {
        throttled.report('warn', 'a', 'one');
        expect(jest.getTimerCount()).toBe(0);

        const setTimer = jest.spyOn(globalThis, 'setTimeout');
        throttled.report('warn', 'a', 'two');
        expect(jest.getTimerCount()).toBe(1);
        expect(setTimer.mock.results[0].value.hasRef()).toBe(false);
    });

    it('should write what is held back when it is flushed', () => {
        throttled.report('warn', 'a', 'one');
        throttled.report('warn', 'a', 'two');
        throttled.report('warn', 'b', 'three');
        throttled.flush();

        expect(lines('warn')).toEqual(['Test: one', 'Test: three', 'Test: two']);
        expect(jest.getTimerCount()).toBe(0);
    });

    it('should outlive a logger that throws', () => {
        logger.warn.mockImplementation(() => {
            throw new Error('disk full');
        });

        expect(() => throttled.report('warn', 'a', 'one')).not.toThrow();
    });

    it('should not repeat the line of another writer to the same logger', () => {
        const other = new ThrottledLogger(logger, 'Test');
        const elsewhere = createLogger();

        throttled.write('info', 'listening');
        other.write('info', 'listening');
        new ThrottledLogger(elsewhere, 'Test').write('info', 'listening');
        expect(lines('info')).toEqual(['Test: listening']);
        expect(elsewhere.info).toHaveBeenCalledTimes(1);

        jest.advanceTimersByTime(1000);
        other.write('info', 'listening');
        expect(lines('info')).toEqual(['Test: listening', 'Test: listening']);
    });
});
