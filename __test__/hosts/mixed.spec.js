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
    function start(lan, hosts, name) {
        const [kind, major] = name.split(' ');
        const script = kind === 'core' ? 'core-listen-process.js' : 'listen-process.js';
        return lan.listen(hosts, LISTENER, { node: nodes[major], script });
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
        // Of 200 or more, each of which reaches us by a chance of one in two; and on a busy machine
        // the relay holds some back, which it takes for the same.
        const ALL = [0.75, 1.25];
        const NONE = [0, 0];
        const SOME = [0.25, 0.7];

        /** A host each: what starts there, one after the other, and what share of it we hear. */
        const pods = [
            ['all', ['core 20', 'ours 20'], ALL],
            ['all', ['core 20', 'core 20', 'ours 22', 'ours 20'], ALL],
            ['none', ['ours 20', 'core 20'], NONE],
            ['some', ['ours 20', 'core 22'], SOME],
            ['some', ['core 22', 'ours 20'], SOME],
        ];
        let lan;
        let programs;
        let ups;

        beforeAll(async () => {
            lan = new Lan(1 + pods.length);
            programs = await Promise.all(pods.map(([, names], pod) => startPod(2 + pod, names)));
            const announcer = lan.run(1, 'announce-process.js', {
                ...BROKER,
                brokers: BROKERS,
                destinations: pods.map((_, pod) => `10.77.0.${2 + pod}`),
            });
            await announcer.line(isAnnounced);
            await nothingFor(PAUSE_MS);
            const answers = await Promise.all(pods.map((_, pod) => ours(pod)[0].ask('servers')));
            ups = answers.map(({ stats }) => stats.ups);
        });

        afterAll(() => lan?.close());

        async function startPod(host, names) {
            const started = [];
            for (const name of names) {
                started.push(...await start(lan, [host], name));
            }
            return started;
        }

        const those = (kind, pod) => programs[pod].filter(
            (_, index) => pods[pod][1][index].startsWith(kind),
        );
        const ours = pod => those('ours', pod);

        // Core has no relay: what the system gives to it alone, nobody sends on.
        it.each(pods.map((pod, index) => [...pod, index]))(
            'should hear %s of the heartbeats beside core, started in the order %j',
            (_, names, [least, most], pod) => {
                expect(ups[0]).toBeGreaterThanOrEqual(10 * BROKERS);
                expect(ups[pod] / ups[0]).toBeGreaterThanOrEqual(least);
                expect(ups[pod] / ups[0]).toBeLessThanOrEqual(most);
            },
        );

        it('should lose no broker where we start last, whatever number of us', async () => {
            const programs = [...ours(0), ...ours(1)];
            expect(programs.map(outcome)).toEqual(Array(3).fill({ adds: BROKERS, removes: 0 }));
        });

        it('should let core hear everything in any order', () => {
            const cores = pods.flatMap((_, pod) => those('core', pod));
            expect(cores.map(outcome)).toEqual(Array(6).fill({ adds: BROKERS, removes: 0 }));
        });
    });
});
