'use strict';

const { Lan, describeHosts } = require('../helpers/lan.js');
const { counted, isAdd, isAnnounced, isRemove, outcome } = require('../helpers/said.js');

const BROKER = { host: '10.77.0.1', port: 6379, id: 'broker', interval: 0.1 };

const from = address => ({ source: expect.stringMatching(new RegExp(`^${address}:`)) });

describeHosts('hosts with several networks, or with one that comes later', () => {
    let lan;

    afterEach(() => lan?.close());

    it('should all hear a broker on a host without a default route', async () => {
        lan = new Lan(3);
        expect(lan.routes(1)).not.toContain('default');
        const programs = await lan.listen([1, 2, 3]);

        const announcer = lan.run(1, 'announce-process.js', BROKER);
        await Promise.all(programs.map(program => program.line(isAdd)));
        expect(await announcer.end()).toBe(0);
        await Promise.all(programs.map(program => program.line(isRemove)));
    });

    it('should hear a broker that has a network each with them', async () => {
        lan = new Lan(2);
        // Host 3 is not on network 0 but on 1, as host 1 is too.
        lan.addHost(3);
        [1, 3].forEach(host => lan.plug(host, 1));
        const programs = await lan.listen([2, 3]);

        const announcer = lan.run(1, 'announce-process.js', BROKER);
        expect(await Promise.all(programs.map(program => program.line(isAdd)))).toMatchObject([
            from('10.77.0.1'),
            from('10.77.1.1'),
        ]);
        expect(await announcer.end()).toBe(0);
        await Promise.all(programs.map(program => program.line(isRemove)));
        expect(programs.map(outcome)).toEqual(Array(2).fill({ adds: 1, removes: 1 }));
    });

    it('should keep one entry for a broker that is heard on two networks', async () => {
        lan = new Lan(2);
        [1, 2].forEach(host => lan.plug(host, 1));
        const [program] = await lan.listen([2]);

        const announcer = lan.run(1, 'announce-process.js', BROKER);
        await program.line(isAdd);
        // Ten rounds, each of them on both networks.
        await counted(program, 'ups', 20);
        expect(await announcer.end()).toBe(0);
        await program.line(isRemove);
        expect(outcome(program)).toEqual({ adds: 1, removes: 1 });
    });

    it('should hear only the network that `address` names', async () => {
        lan = new Lan(1);
        [2, 3].forEach(host => lan.addHost(host));
        [[2, 0], [2, 1], [3, 1]].forEach(([host, network]) => lan.plug(host, network));
        const listening = ['10.77.0.255', '10.77.1.255', '127.255.255.255', '255.255.255.255'].map(
            address => lan.listen([2], { address }),
        );
        const programs = (await Promise.all(listening)).flat();

        const announcers = [
            lan.run(1, 'announce-process.js', { ...BROKER, id: 'on-0' }),
            lan.run(3, 'announce-process.js', { ...BROKER, id: 'on-1', host: '10.77.1.3' }),
        ];
        await programs[3].some(2, isAdd);
        await Promise.all(announcers.map(announcer => announcer.end()));
        await programs[3].some(2, isRemove);
        // All of it did arrive, and was left out.
        await Promise.all(programs.map(program => counted(program, 'datagrams', 4)));
        const heard = programs.map(({ lines }) => lines.filter(isAdd).map(({ id }) => id).sort());
        expect(heard).toEqual([['on-0'], ['on-1'], [], ['on-0', 'on-1']]);
    });

    it('should hear an `address` whose interface appears after the start', async () => {
        lan = new Lan(1);
        lan.addHost(2);
        const [directed, everywhere] = (await Promise.all([
            lan.listen([2], { address: '10.77.0.255' }),
            lan.listen([2]),
        ])).flat();
        const announcer = lan.run(1, 'announce-process.js', BROKER);
        await announcer.line(isAnnounced);

        lan.plug(2, 0);
        await Promise.all([directed, everywhere].map(program => program.line(isAdd)));
        // Once it knows the interface it misses nothing.
        expect(await announcer.end()).toBe(0);
        await Promise.all([directed, everywhere].map(program => program.line(isRemove)));
    });

    it('should announce through an interface that appears after the start', async () => {
        lan = new Lan(0);
        [1, 2].forEach(host => lan.addHost(host));
        lan.plug(2, 0);
        const [near, far] = await lan.listen([1, 2]);
        const announcer = lan.run(1, 'announce-process.js', BROKER);
        // On a host without a network it tells the host itself.
        expect(await near.line(isAdd)).toMatchObject(from('127.0.0.1'));

        lan.plug(1, 0);
        const plugged = performance.now();
        expect(await far.line(isAdd)).toMatchObject(from('10.77.0.1'));
        // The list of interfaces is half a second old at most, and the system's word that this one
        // is up can take a second.
        expect(performance.now() - plugged).toBeLessThan(3000);
        lan.plug(1, 1);
        expect(await announcer.end()).toBe(0);
        await Promise.all([near, far].map(program => program.line(isRemove)));
        expect([near, far].map(outcome)).toEqual(Array(2).fill({ adds: 1, removes: 1 }));
    });
});
