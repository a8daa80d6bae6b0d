'use strict';

const { Lan } = require('./helpers/lan.js');

const describeAsRoot = Lan.available ? describe : describe.skip;

const BROKER = { host: '10.77.0.1', port: 6379, id: 'broker-1', interval: 0.1 };
const isAdd = ({ event }) => event === 'add';
const isRemove = ({ event }) => event === 'remove';
const isListening = ({ event }) => event === 'listening';

describeAsRoot('three hosts on a bridge, several processes on each', () => {
    let lan;

    beforeEach(() => {
        lan = new Lan(3);
    });

    afterEach(() => lan.close());

    async function listeners(hosts, options) {
        const programs = hosts.map(host => lan.run(host, 'listen-process.js', options));
        await Promise.all(programs.map(program => program.line(isListening)));
        return programs;
    }

    it('should all hear a broadcast, and the goodbye', async () => {
        const programs = await listeners([1, 1, 1, 2, 2, 2, 3, 3, 3]);
        const announcer = lan.run(1, 'announce-process.js', BROKER);

        const adds = await Promise.all(programs.map(program => program.line(isAdd)));
        for (const add of adds) {
            expect(add).toMatchObject({ id: BROKER.id, source: expect.stringMatching(/^10\.77\.0\.1:/) });
        }

        expect(await announcer.end()).toBe(0);
        await Promise.all(programs.map(program => program.line(isRemove)));
        const counts = programs.map(({ lines }) => lines.filter(isAdd).length);
        expect(counts).toEqual(Array(9).fill(1));
    });

    it('should evict a crashed broker everywhere, and not before its deadline', async () => {
        const programs = await listeners([1, 2, 2, 3], { aliveTimeoutCorrection: 300 });
        const announcer = lan.run(1, 'announce-process.js', BROKER);
        await Promise.all(programs.map(program => program.line(isAdd)));

        const killed = performance.now();
        await announcer.kill();
        await Promise.all(programs.map(program => program.line(isRemove)));
        // The last announcement was at most an interval before the kill.
        expect(performance.now() - killed).toBeGreaterThanOrEqual(300);
    });

    it('should all hear what one of them was sent by unicast, without a wrongful removal', async () => {
        const programs = await listeners([2, 2, 2, 2], { aliveTimeoutCorrection: 400 });
        const announcer = lan.run(1, 'announce-process.js', { ...BROKER, destinations: ['10.77.0.2'] });
        await Promise.all(programs.map(program => program.line(isAdd)));

        // Nothing is to happen for ten deadlines.
        await new Promise(resolve => setTimeout(resolve, 5000));
        expect(programs.flatMap(({ lines }) => lines.filter(isRemove))).toEqual([]);

        expect(await announcer.end()).toBe(0);
        await Promise.all(programs.map(program => program.line(isRemove)));
    });

    it('should hear only the network that `address` names', async () => {
        const [wanted] = await listeners([2], { address: '10.77.0.255' });
        const [foreign] = await listeners([2], { address: '127.255.255.255' });
        const announcer = lan.run(1, 'announce-process.js', BROKER);

        await wanted.line(isAdd);
        expect(await announcer.end()).toBe(0);
        await wanted.line(isRemove);
        expect(await foreign.end()).toBe(0);
        expect(foreign.lines.filter(isAdd)).toEqual([]);
        // It did arrive, and was left out.
        const stats = await foreign.line(({ event }) => event === 'stats');
        expect(stats.datagrams).toBeGreaterThan(0);
    });
});
