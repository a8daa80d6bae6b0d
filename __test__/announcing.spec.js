'use strict';

const { createHarness, settle } = require('./helpers/harness.js');

describe('Announcer', () => {
    let harness;
    let announcer;

    beforeEach(() => {
        harness = createHarness();
        announcer = harness.createAnnouncer({ id: 'id-1', name: 'test' });
    });

    const announced = () => harness.announcer.notices('info', 'announced', 'announced').wake();
    const stopped = () => harness.announcer.notices('info', 'stopped', 'stopped').wake();

    /** Whether a promise is settled by now. */
    async function isSettled(promise) {
        let settled = false;
        promise.then(() => { settled = true; });
        await settle();
        return settled;
    }

    it('should say what it announces', () => {
        const { host, port, id, name } = announcer;
        expect([host, port, id, name]).toEqual(['10.0.0.1', 6379, 'id-1', 'test']);
    });

    it('should announce nothing before it is started', () => {
        expect(harness.binding.announcers).toHaveLength(0);
        return announcer.stop();
    });

    it('should resolve start when the first announcement is out', async () => {
        const started = announcer.start();
        expect(await isSettled(started)).toBe(false);

        announced();
        expect(await started).toBe(announcer);
    });

    it('should resolve start when sending failed, and log why', async () => {
        const started = announcer.start();
        harness.announcer.notices('warn', 'failed', 'network is unreachable').wake();

        await started;
        expect(harness.logger.warn).toHaveBeenCalledWith(
            'Announcer 10.0.0.1:6379: network is unreachable',
        );
    });

    it('should reject start when the native side refuses it', async () => {
        harness.binding.startError = new Error('no thread');
        await expect(announcer.start()).rejects.toThrow('no thread');

        harness.binding.startError = undefined;
        const started = announcer.start();
        announced();
        await started;
    });

    it('should reject start with a RangeError for what no listener would accept', async () => {
        harness.binding.startError = Object.assign(new Error('host'), { code: 'InvalidArg' });
        await expect(announcer.start()).rejects.toThrow(RangeError);
    });

    it('should announce once, however often it is started', async () => {
        const started = [announcer.start(), announcer.start()];
        announced();
        await Promise.all([...started, announcer.start()]);

        expect(harness.binding.announcers).toHaveLength(1);
    });

    it('should resolve stop when the goodbye is out', async () => {
        announcer.start();
        const stopping = [announcer.stop(), announcer.stop()];
        expect(await isSettled(stopping[0])).toBe(false);
        expect(harness.announcer.calls).toEqual(['stop']);

        stopped();
        await Promise.all([...stopping, announcer.stop()]);
        expect(harness.announcer.calls).toEqual(['stop', 'close']);
    });

    it('should resolve start when it is stopped before anything was sent', async () => {
        const started = announcer.start();
        announcer.stop();
        stopped();

        await started;
    });

    it('should begin anew with the same id when started after stop', async () => {
        announcer.start();
        announcer.stop();
        const restarted = announcer.start();
        expect(harness.binding.announcers).toHaveLength(1);

        stopped();
        await settle();
        expect(harness.binding.announcers).toHaveLength(2);
        expect(harness.announcer.id).toBe('id-1');

        announced();
        await restarted;
    });

    it('should stay stopped when stop is called last', async () => {
        announcer.start();
        announcer.stop();
        const restarted = announcer.start();
        const stopping = announcer.stop();

        stopped();
        await Promise.all([restarted, stopping]);
        expect(harness.binding.announcers).toHaveLength(1);
    });

    it('should keep the process up while it announces', async () => {
        announcer.start();
        announced();
        expect(harness.environment.referred).toBe(true);

        expect(announcer.unref()).toBe(announcer);
        expect(harness.environment.referred).toBe(false);

        announcer.ref().stop();
        stopped();
        expect(harness.environment.referred).toBe(false);
        expect(harness.environment.calls.at(-1)).toBe('close');
    });

    it('should keep the choice of unref through a restart', () => {
        announcer.unref().start();
        announced();
        expect(harness.environment.referred).toBe(false);
    });

    it('should keep the process up for whoever waits for start or stop', () => {
        announcer.unref().start();
        expect(harness.environment.referred).toBe(true);
        announced();
        expect(harness.environment.referred).toBe(false);

        announcer.stop();
        expect(harness.environment.referred).toBe(true);
        stopped();
        expect(harness.environment.referred).toBe(false);
    });

    it('should share the environment with managers', async () => {
        const manager = harness.createManager();
        announcer.start();
        announcer.stop();
        stopped();

        expect(harness.binding.environments).toHaveLength(1);
        expect(harness.environment.calls).not.toContain('close');
        await manager.destroy();
    });
});
