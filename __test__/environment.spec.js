'use strict';

const { aServer, createCluster, createHarness } = require('./helpers/harness.js');

describe('environment', () => {
    let harness;

    beforeEach(() => {
        harness = createHarness();
    });

    it('should not exist before the first manager', () => {
        expect(harness.binding.environments).toHaveLength(0);
    });

    it('should be shared, and end with the last manager', async () => {
        const managers = [harness.createManager(), harness.createManager()];
        expect(harness.binding.environments).toHaveLength(1);

        await managers[0].destroy();
        expect(harness.environment.calls).not.toContain('close');

        await managers[1].destroy();
        expect(harness.environment.calls.at(-1)).toBe('close');
    });

    it('should begin anew with the next manager', async () => {
        await harness.createManager().destroy();
        const manager = harness.createManager();

        expect(harness.binding.environments).toHaveLength(2);
        expect(harness.environment.referred).toBe(true);
        await manager.destroy();
    });

    it('should take a wake-up that comes after the end', async () => {
        const manager = harness.createManager();
        const { listener } = harness;
        await manager.destroy();

        expect(() => listener.wake()).not.toThrow();
    });

    it('should drain every manager on a wake-up', async () => {
        const managers = [harness.createManager(), harness.createManager()];
        const clusters = managers.map(manager => manager.init(createCluster()));
        harness.binding.listeners.forEach(listener => listener.adds(aServer(1)));

        harness.environment.wake();

        expect(clusters.map(({ servers }) => servers.length)).toEqual([1, 1]);
        await Promise.all(managers.map(manager => manager.destroy()));
    });

    describe('keeping the process up', () => {
        it('should last while a manager lives that is not unref()ed', async () => {
            const [first, second] = [harness.createManager(), harness.createManager()];
            const { environment } = harness;
            expect(environment.referred).toBe(true);

            first.unref();
            expect(environment.referred).toBe(true);

            second.unref();
            expect(environment.referred).toBe(false);

            expect(first.ref()).toBe(first);
            expect(environment.referred).toBe(true);

            await first.destroy();
            expect(environment.referred).toBe(false);
            await second.destroy();
        });

        it('should count a manager once, however often it is called', async () => {
            const manager = harness.createManager();
            manager.ref().ref();
            manager.unref();

            expect(harness.environment.referred).toBe(false);
            await manager.destroy();
        });

        it.each(['unref', 'ref'])('should stay %s()ed through a restart', async state => {
            const manager = harness.createManager().unref().ref()[state]();
            await manager.destroy();
            manager.init(createCluster());

            expect(harness.environment.referred).toBe(state === 'ref');
            await manager.destroy();
        });

        it('should be decided while it does not listen, too', async () => {
            const manager = harness.createManager();
            await manager.destroy();
            expect(manager.unref()).toBe(manager);

            manager.init(createCluster());
            expect(harness.environment.referred).toBe(false);
            await manager.destroy();
        });
    });
});
