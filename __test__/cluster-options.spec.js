'use strict';

const { createHarness } = require('./helpers/harness.js');

describe('clusterOptions', () => {
    let harness;
    let clusterOptions;

    beforeEach(() => {
        harness = createHarness();
        ({ clusterOptions } = harness.facade);
    });

    const fixed = REDIS_CLUSTER => clusterOptions({ DISABLE_CLUSTER_MANAGER: '1', REDIS_CLUSTER });

    it.each([{}, { DISABLE_CLUSTER_MANAGER: '' }, { DISABLE_CLUSTER_MANAGER: 'No' }])(
        'should find the brokers with %j',
        async env => {
            const { clusterManagers, ...others } = clusterOptions(env);

            expect(others).toEqual({});
            expect(clusterManagers).toEqual([expect.any(harness.facade.RustUDPClusterManager)]);
            await clusterManagers[0].destroy();
        },
    );

    it.each(['1', 'true', 'YES', 'on'])('should not listen when disabled by %j', value => {
        expect(clusterOptions({ DISABLE_CLUSTER_MANAGER: value })).toEqual({
            cluster: [{ host: 'localhost', port: 6379 }],
        });
        expect(harness.binding.listeners).toHaveLength(0);
    });

    it('should take any other value for yes, with a warning', () => {
        const warn = jest.spyOn(console, 'warn').mockImplementation(() => {});

        expect(clusterOptions({ DISABLE_CLUSTER_MANAGER: 'please' })).toHaveProperty('cluster');
        expect(warn).toHaveBeenCalledWith(
            expect.stringContaining('DISABLE_CLUSTER_MANAGER="please"'),
        );
        warn.mockRestore();
    });

    it('should give the manager its options', async () => {
        const { clusterManagers: [manager] } = clusterOptions({}, { port: 63001 });

        expect(harness.listener.port).toBe(63001);
        await manager.destroy();
    });

    it('should read the environment of the process', () => {
        process.env.DISABLE_CLUSTER_MANAGER = '1';
        process.env.REDIS_CLUSTER = 'a:1';
        try {
            expect(clusterOptions()).toEqual({ cluster: [{ host: 'a', port: 1 }] });
        } finally {
            delete process.env.DISABLE_CLUSTER_MANAGER;
            delete process.env.REDIS_CLUSTER;
        }
    });

    it.each([
        [undefined, [['localhost', 6379]]],
        ['', [['localhost', 6379]]],
        ['  ', [['localhost', 6379]]],
        ['redis:6380', [['redis', 6380]]],
        ['a:1,b:2', [['a', 1], ['b', 2]]],
        [' a:1 ,\n b:2 ', [['a', 1], ['b', 2]]],
        ['a:1,', [['a', 1]]],
        ['a:1,b:2, ,', [['a', 1], ['b', 2]]],
        ['a:1,a:1', [['a', 1], ['a', 1]]],
        ['10.0.0.1:65535', [['10.0.0.1', 65535]]],
        ['[fd00::1]:6379,[::1]:1', [['fd00::1', 6379], ['::1', 1]]],
    ])('should read %j', (text, expected) => {
        expect(fixed(text)).toEqual({ cluster: expected.map(([host, port]) => ({ host, port })) });
    });

    it.each([
        ['redis', 'redis'],
        ['redis:', 'redis:'],
        [':6379', ':6379'],
        ['redis:0', 'redis:0'],
        ['redis:65536', 'redis:65536'],
        ['redis:6379abc', 'redis:6379abc'],
        ['redis:-1', 'redis:-1'],
        ['redis:1:2', 'redis:1:2'],
        ['fd00::1:6379', 'fd00::1:6379'],
        ['[fd00::1]', '[fd00::1]'],
        ['[fd00::1:6379', '[fd00::1:6379'],
        ['[10.0.0.1]:6379', '[10.0.0.1]:6379'],
        ['re dis:6379', 're dis:6379'],
        ['a:1;b:2', 'a:1;b:2'],
        ['a:1,,b:2', ''],
        [',a:1', ''],
        [',', ''],
        ['a:1,redis://b:2', 'redis://b:2'],
    ])('should reject %j, naming the entry', (text, entry) => {
        expect(() => fixed(text)).toThrow(`has the entry ${JSON.stringify(entry)}, which is not`);
        expect(() => fixed(text)).toThrow(expect.objectContaining({ code: 'ERR_REDIS_CLUSTER' }));
    });
});
