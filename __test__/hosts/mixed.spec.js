'use strict';

const { ensureNode } = require('../../scripts/nodes.js');
const { Lan, describeHosts } = require('../helpers/lan.js');
const { isAdd, isAnnounced, isRemove, nothingFor, outcome } = require('../helpers/said.js');

const HOSTS = [1, 2, 3];
const BROKERS = 20;

const BROKER = { host: '10.77.0.1', port: 6379, id: 'broker', interval: 0.2 };
const LISTENER = { aliveTimeoutCorrection: 1000 };

/** Longer than a deadline: whoever is not heard any more is gone by then. */
const PAUSE_MS = 2500;

/** Installing a Node.js takes a while. */
const INSTALL_MS = 120_000;

describeHosts('processes with the manager of @imqueue/core on the same port', () => {
    let nodes;

    beforeAll(() => {
        nodes = { 20: ensureNode(20), 22: ensureNode(22) };
    }, INSTALL_MS);

    // Core sets SO_REUSEPORT on Node.js 22, but not on 20.
    function start(lan, hosts, name, options = LISTENER) {
        const [kind, major] = name.split(' ');
        const script = kind === 'core' ? 'core-listen-process.js' : 'listen-process.js';
        return lan.listen(hosts, options, { node: nodes[major], script });
    }

    describe('told by broadcast', () => {
        let lan;

        beforeEach(() => {
            lan = new Lan(3);
        });

        afterEach(() => lan?.close());

        it.each([
            [['ours 20', 'ours 22', 'core 20', 'core 22']],
            [['core 20', 'core 22', 'ours 20', 'ours 22']],
        ])('should all hear everything, started in the order %j', async names => {
            const programs = [];
            for (const pair of [names.slice(0, 2), names.slice(2)]) {
                const started = await Promise.all(pair.map(name => start(lan, HOSTS, name)));
                programs.push(...started.flat());
            }
            const announcers = HOSTS.map(host => lan.run(host, 'announce-process.js', {
                ...BROKER,
                host: `10.77.0.${host}`,
                id: `broker-${host}`,
            }));
            await Promise.all(programs.map(program => program.some(3, isAdd)));

            // Nothing is to happen for now.
            await nothingFor(PAUSE_MS);
            expect(programs.map(outcome)).toEqual(Array(12).fill({ adds: 3, removes: 0 }));
            await Promise.all(announcers.map(announcer => announcer.end()));
            await Promise.all(programs.map(program => program.some(3, isRemove)));
        });
    });

    describe('told by unicast', () => {
        // On a busy machine the relay holds some back, which it takes for the same.
        const ALL = [0.75, 1.25];

        /** A host each: what starts there, one after the other. */
        const pods = [
            ['ours 20'],
            ['core 20', 'ours 20'],
            ['ours 20', 'core 20'],
            ['core 22', 'ours 20'],
            ['ours 20', 'core 22'],
            ['ours 22', 'core 20', 'core 22', 'ours 20'],
        ];
        let lan;
        let programs;

        beforeAll(async () => {
            lan = new Lan(1 + pods.length);
            programs = await Promise.all(pods.map((names, pod) => startPod(lan, 2 + pod, names)));
            const announcer = announce(lan, pods.map((_, pod) => `10.77.0.${2 + pod}`));
            await announcer.line(isAnnounced);
            await Promise.all(programs.flat().map(program => program.some(BROKERS, isAdd)));
        }, INSTALL_MS);

        afterAll(() => lan?.close());

        const ours = pod => programs[pod].filter((_, index) => pods[pod][index].startsWith('ours'));

        async function ups(pod) {
            const answers = await Promise.all(ours(pod).map(program => program.ask('servers')));
            return answers.map(({ stats }) => stats.ups);
        }

        it('should hear all of the heartbeats, in any order', async () => {
            const before = await Promise.all(pods.map((_, pod) => ups(pod)));
            // Nothing else is to happen for now.
            await nothingFor(PAUSE_MS);
            const after = await Promise.all(pods.map((_, pod) => ups(pod)));

            const heard = after.map((counts, pod) => counts.map(
                (count, index) => count - before[pod][index],
            ));
            const [[alone]] = heard;
            expect(alone).toBeGreaterThanOrEqual(10 * BROKERS);
            for (const count of heard.flat()) {
                expect(count / alone).toBeGreaterThanOrEqual(ALL[0]);
                expect(count / alone).toBeLessThanOrEqual(ALL[1]);
            }
        });

        it.each(pods.map((names, pod) => [names, pod]))(
            'should lose no broker, nor let core lose one, started in the order %j',
            (names, pod) => {
                const all = names.map(() => ({ adds: BROKERS, removes: 0 }));
                expect(programs[pod].map(outcome)).toEqual(all);
            },
        );
    });

    describe('told by unicast while something changes', () => {
        // Longer than it takes to see the change, shorter than the pause.
        const PATIENT = { aliveTimeoutCorrection: 4000 };
        const LONG_PAUSE_MS = 6000;
        let lan;

        beforeEach(() => {
            lan = new Lan(2);
        });

        afterEach(() => lan?.close());

        it('should lose no broker when core starts, and when it ends', async () => {
            const [program] = await start(lan, [2], 'ours 20', PATIENT);
            announce(lan, ['10.77.0.2']);
            await program.some(BROKERS, isAdd);

            // To it alone the system gives all unicasts, until we see that it is there.
            const [core] = await start(lan, [2], 'core 20', PATIENT);
            await core.some(BROKERS, isAdd);
            await nothingFor(LONG_PAUSE_MS);
            await core.end();
            await nothingFor(LONG_PAUSE_MS);
            expect([program, core].map(outcome)).toEqual(
                Array(2).fill({ adds: BROKERS, removes: 0 }),
            );
        });

        it('should lose no broker when the host gets another address', async () => {
            const programs = await startPod(lan, 2, ['ours 20', 'core 20'], PATIENT);
            announce(lan, ['10.77.0.2', '10.77.0.99']);
            await Promise.all(programs.map(program => program.some(BROKERS, isAdd)));

            lan.readdress(2, 0, 99);
            await nothingFor(LONG_PAUSE_MS);
            expect(programs.map(outcome)).toEqual(Array(2).fill({ adds: BROKERS, removes: 0 }));
        });
    });

    async function startPod(lan, host, names, options) {
        const started = [];
        for (const name of names) {
            started.push(...await start(lan, [host], name, options));
        }
        return started;
    }

    function announce(lan, destinations) {
        return lan.run(1, 'announce-process.js', { ...BROKER, brokers: BROKERS, destinations });
    }
});
