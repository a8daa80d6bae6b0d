'use strict';

const { Lan, describeHosts } = require('../helpers/lan.js');
const {
    fleetOf, isAdd, isAnnounced, isRemove, nothingFor, outcome,
} = require('../helpers/said.js');

const SEED = Number(process.env.IMQ_TEST_SEED ?? 20261129);
const BROKERS = 10;
const SECONDS = 6;

const NETWORK = { doubled: 0.1, late: 0.25, lateByMs: 250, lost: 0.3, seed: SEED };
const BROKER = { brokers: BROKERS, host: '10.77.0.1', port: 6379, id: 'broker', interval: 0.1 };

// A broker is removed wrongly when everything is lost that it said in the 2.1 s before its
// deadline, less the 0.25 s that something may be late by: 18 heartbeats, 0.3^18 = 3.9e-10. That
// can begin with each of 60 heartbeats of 10 brokers on 2 ways: 1,200 * 3.9e-10 = 4.6e-7.
const LISTENER = { aliveTimeoutCorrection: 2000 };

describeHosts(`a network that loses 30 %, doubles and reorders (seed ${SEED})`, () => {
    let lan;

    beforeEach(() => {
        // Host 2 stands between the announcer's network 0 and the listeners' networks 1 and 2.
        lan = new Lan(2);
        [3, 4].forEach(host => lan.addHost(host));
        [[2, 1], [3, 1], [2, 2], [4, 2]].forEach(([host, network]) => lan.plug(host, network));
    });

    afterEach(() => lan?.close());

    it('should lose no healthy broker and keep none that left', async () => {
        const [network] = await lan.listen([2], {
            ...NETWORK,
            destinations: ['10.77.1.255', '10.77.2.4'],
            from: '10.77.0.1',
        }, { script: 'bad-network-process.js' });
        // Broadcasts reach the first three, unicasts, and with them the relay, the others.
        const programs = await lan.listen([3, 3, 3, 4, 4, 4, 4], LISTENER);
        const announcer = lan.run(1, 'announce-process.js', BROKER);
        await announcer.line(isAnnounced);
        await Promise.all(programs.map(program => program.some(BROKERS, isAdd)));
        const everybody = await fleetOf(programs[0]);

        for (let second = 0; second < SECONDS; second += 1) {
            await nothingFor(1000);
            expect(await Promise.all(programs.map(fleetOf))).toEqual(Array(7).fill(everybody));
        }
        expect(programs.map(outcome)).toEqual(Array(7).fill({ adds: BROKERS, removes: 0 }));
        const counts = await network.ask('counts');
        expect(counts.heard).toBeGreaterThan(BROKERS * SECONDS * 10);
        expect(counts.lost / counts.sent).toBeGreaterThan(0.25);
        expect(counts.lost / counts.sent).toBeLessThan(0.35);
        expect(counts.late).toBeGreaterThan(100);
        expect(counts.doubled).toBeGreaterThan(50);

        // Some of the goodbyes are lost, too, and some heartbeats come after them.
        expect(await announcer.end()).toBe(0);
        await Promise.all(programs.map(program => program.some(BROKERS, isRemove)));
        // Nothing is to come back.
        await nothingFor(2 * NETWORK.lateByMs);
        expect(programs.map(outcome)).toEqual(Array(7).fill({ adds: BROKERS, removes: BROKERS }));
    });
});
