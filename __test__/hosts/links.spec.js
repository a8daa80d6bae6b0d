'use strict';

const { Lan, describeHosts } = require('../helpers/lan.js');
const { isAdd, isRemove, nothingFor, outcome, stillHear } = require('../helpers/said.js');

const FLAPS = 50;
const BROKER = { host: '10.77.0.1', port: 6379, id: 'broker', interval: 0.1 };

/** How long an interface may be away: the system's own word of it takes up to a second. */
const PATIENT = { aliveTimeoutCorrection: 3000 };

describeHosts("a host's link to the others", () => {
    const [ANNOUNCING, LISTENING] = [1, 2];
    let lan;

    beforeEach(() => {
        lan = new Lan(3);
    });

    afterEach(() => lan?.close());

    it(`should lose no broker when those of both ends go down and up ${FLAPS} times`, async () => {
        const programs = await lan.listen([1, 2, 3], PATIENT);
        const announcer = lan.run(ANNOUNCING, 'announce-process.js', BROKER);
        await Promise.all(programs.map(program => program.line(isAdd)));

        for (let flap = 0; flap < FLAPS; flap += 1) {
            for (const host of [ANNOUNCING, LISTENING]) {
                lan.setLink(host, 0, 'down');
                await nothingFor(20);
                lan.setLink(host, 0, 'up');
            }
            await nothingFor(20);
        }
        await stillHear(programs);
        expect(programs.map(outcome)).toEqual(Array(3).fill({ adds: 1, removes: 0 }));

        // All of them hear the goodbye, too.
        expect(await announcer.end()).toBe(0);
        const removes = await Promise.all(programs.map(program => program.line(isRemove)));
        expect(removes.map(({ type }) => type)).toEqual(Array(3).fill('down'));
        const answers = await Promise.all(programs.map(program => program.ask('servers')));
        expect(answers.map(({ stats }) => stats.receiveErrors)).toEqual([0, 0, 0]);
    });

    it('should lose the broker when it stays down, and find it when it is up again', async () => {
        const [near, far] = await lan.listen([1, 2], { aliveTimeoutCorrection: 400 });
        const announcer = lan.run(ANNOUNCING, 'announce-process.js', BROKER);
        await Promise.all([near, far].map(program => program.line(isAdd)));

        lan.setLink(LISTENING, 0, 'down');
        await far.line(isRemove);
        lan.setLink(LISTENING, 0, 'up');
        await far.some(2, isAdd);
        expect(outcome(near)).toEqual({ adds: 1, removes: 0 });
        expect(await announcer.end()).toBe(0);
    });

    it('should lose no broker when interfaces are replaced, and get other addresses', async () => {
        const programs = (await Promise.all([
            lan.listen([1, 2, 3], PATIENT),
            lan.listen([2], { ...PATIENT, address: '10.77.0.255' }),
        ])).flat();
        const announcer = lan.run(ANNOUNCING, 'announce-process.js', BROKER);
        await Promise.all(programs.map(program => program.line(isAdd)));

        for (const host of [ANNOUNCING, LISTENING]) {
            lan.unplug(host, 0);
            lan.plug(host, 0);
            await stillHear(programs);
            lan.readdress(host, 0, 100 + host);
            await stillHear(programs);
        }
        expect(programs.map(outcome)).toEqual(Array(4).fill({ adds: 1, removes: 0 }));
        expect(await announcer.end()).toBe(0);
        await Promise.all(programs.map(program => program.line(isRemove)));
    });
});
