'use strict';

const { Lan, describeHosts } = require('../helpers/lan.js');
const { isAdd, isAnnounced, isRemove, outcome } = require('../helpers/said.js');

const BROKER = { host: '10.77.0.1', port: 6379, id: 'broker', interval: 0.1 };

describeHosts('three hosts on a bridge, several processes on each', () => {
    let lan;

    beforeEach(() => {
        lan = new Lan(3);
    });

    afterEach(() => lan?.close());

    it('should all hear a broadcast, and the goodbye', async () => {
        const programs = await lan.listen([1, 1, 1, 2, 2, 2, 3, 3, 3]);
        const announcer = lan.run(1, 'announce-process.js', BROKER);

        const adds = await Promise.all(programs.map(program => program.line(isAdd)));
        for (const add of adds) {
            expect(add).toMatchObject({
                id: BROKER.id,
                source: expect.stringMatching(/^10\.77\.0\.1:/),
            });
        }

        expect(await announcer.end()).toBe(0);
        await Promise.all(programs.map(program => program.line(isRemove)));
        expect(programs.map(outcome)).toEqual(Array(9).fill({ adds: 1, removes: 1 }));
    });

    it('should evict a crashed broker everywhere, and not before its deadline', async () => {
        const programs = await lan.listen([1, 2, 2, 3], { aliveTimeoutCorrection: 300 });
        const announcer = lan.run(1, 'announce-process.js', BROKER);
        await Promise.all(programs.map(program => program.line(isAdd)));

        const killed = performance.now();
        await announcer.kill();
        await Promise.all(programs.map(program => program.line(isRemove)));
        // The last announcement was at most an interval before the kill.
        expect(performance.now() - killed).toBeGreaterThanOrEqual(300);
    });

    it('should hear brokers on every host', async () => {
        const programs = await lan.listen([1, 1, 2, 2, 3, 3]);
        const announcers = [1, 2, 3].map(host => lan.run(host, 'announce-process.js', {
            ...BROKER,
            host: `10.77.0.${host}`,
            id: `broker-${host}`,
        }));
        await Promise.all(announcers.map(announcer => announcer.line(isAnnounced)));

        await Promise.all(programs.map(program => program.some(3, isAdd)));
        expect(await Promise.all(announcers.map(announcer => announcer.end()))).toEqual([0, 0, 0]);
        await Promise.all(programs.map(program => program.some(3, isRemove)));
        expect(programs.map(outcome)).toEqual(Array(6).fill({ adds: 3, removes: 3 }));
    });
});
