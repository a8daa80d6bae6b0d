'use strict';

const { Lan, describeHosts } = require('../helpers/lan.js');
const {
    fleetOf, isAdd, isAnnounced, isRemove, nothingFor, outcome,
} = require('../helpers/said.js');

const POD = '10.77.0.2';
const PROCESSES = [2, 2, 2, 2];

/** A minute by hand: IMQ_TEST_POD_SECONDS=60 npx jest __test__/hosts/unicast.spec.js */
const SECONDS = Number(process.env.IMQ_TEST_POD_SECONDS ?? 10);

const BROKERS = { brokers: 5, host: '10.77.0.1', port: 6379, interval: 0.1 };
const OURS = { ...BROKERS, id: 'ours', destinations: [POD] };
const ONE_PORT = { ...BROKERS, id: 'one-port', host: '10.77.0.3', destination: POD };

const sum = numbers => numbers.reduce((total, number) => total + number, 0);

describeHosts('four processes of a pod that brokers announce to by unicast', () => {
    let lan;

    beforeEach(() => {
        lan = new Lan(2);
    });

    afterEach(() => lan?.close());

    it(`should all see the same fleet for ${SECONDS} s`, async () => {
        // A deadline is eleven intervals away: one that hears a part only misses it now and then.
        const programs = await lan.listen(PROCESSES, { aliveTimeoutCorrection: 1000 });
        const announcers = [
            lan.run(1, 'announce-process.js', OURS),
            lan.run(1, 'one-port-process.js', ONE_PORT),
        ];
        await Promise.all(announcers.map(announcer => announcer.line(isAnnounced)));
        await Promise.all(programs.map(program => program.some(10, isAdd)));

        const everybody = await fleetOf(programs[0]);
        expect(everybody).toHaveLength(10);
        for (let second = 0; second < SECONDS; second += 1) {
            await nothingFor(1000);
            const fleets = await Promise.all(programs.map(fleetOf));
            expect(fleets).toEqual(Array(4).fill(everybody));
        }
        expect(programs.map(outcome)).toEqual(Array(4).fill({ adds: 10, removes: 0 }));

        await Promise.all(announcers.map(announcer => announcer.end()));
        await Promise.all(programs.map(program => program.some(10, isRemove)));
    }, SECONDS * 1000 + 30_000);

    it('should each hear a part without the relay: that is what the system does', async () => {
        const programs = await lan.listen(PROCESSES, { relay: false });
        const announcer = lan.run(1, 'announce-process.js', OURS);
        await announcer.line(isAnnounced);

        let datagrams = [0];
        // A hundred of them, each to one process, by a chance of one in four.
        while (sum(datagrams) < 100) {
            await nothingFor(100);
            const answers = await Promise.all(programs.map(program => program.ask('servers')));
            datagrams = answers.map(({ stats }) => stats.datagrams);
        }
        expect(Math.max(...datagrams)).toBeLessThan(0.6 * sum(datagrams));
    });

    it('should lose no broker while one of them is stopped, and take none back', async () => {
        // A quarter of the heartbeats reach that one only. With 16 to a deadline, that all of them
        // do has a chance of 0.25^16 = 2.3e-10 for each of 5 * 60 heartbeats: 7e-8.
        const programs = await lan.listen(PROCESSES, { aliveTimeoutCorrection: 1500 });
        const announcers = [OURS, { ...OURS, id: 'leaves', host: '10.77.0.4' }].map(
            options => lan.run(1, 'announce-process.js', options),
        );
        await Promise.all(programs.map(program => program.some(10, isAdd)));

        const [stopped, ...others] = programs;
        stopped.signal('SIGSTOP');
        // What these say meanwhile waits for it: heartbeats that nobody else has heard.
        await nothingFor(2000);
        await announcers[1].end();
        await Promise.all(others.map(program => program.some(5, isRemove)));
        // Nothing else is to happen, now and when it goes on.
        await nothingFor(2000);
        stopped.signal('SIGCONT');
        await stopped.some(5, isRemove);
        await nothingFor(2000);
        expect(programs.map(outcome)).toEqual(Array(4).fill({ adds: 10, removes: 5 }));

        await announcers[0].end();
        await Promise.all(programs.map(program => program.some(10, isRemove)));
    });

    it('should hear a goodbye that only one of them was sent', async () => {
        const programs = await lan.listen(PROCESSES);
        const announcer = lan.run(1, 'announce-process.js', OURS);
        await Promise.all(programs.map(program => program.some(5, isAdd)));

        expect(await announcer.end()).toBe(0);
        // The deadlines are five seconds away.
        await Promise.all(programs.map(program => program.some(5, isRemove, 4000)));
        for (const { lines } of programs) {
            expect(lines.filter(isRemove).map(({ type }) => type)).toEqual(Array(5).fill('down'));
        }
    });
});
