'use strict';

const { ClusteredRedisQueue } = require('@imqueue/core');

const { createFleet, until } = require('./helpers/fleet.js');
const { createLogger } = require('./helpers/harness.js');
const { runScript } = require('./helpers/run-node.js');
const { freePort } = require('./helpers/udp.js');

const BROKER = { id: 'id-1', host: '10.0.0.1', port: 6379, interval: 60 };

/** Queues that are not started know their brokers without connecting to them. */
describe('ClusteredRedisQueue of @imqueue/core', () => {
    let fleet;

    beforeEach(async () => {
        fleet = await createFleet({ name: 'imq-broker' });
    });

    afterEach(() => fleet.close());

    const createQueue = () => new ClusteredRedisQueue('test', {
        clusterManagers: [fleet.manager],
        logger: createLogger(),
    });
    const brokersOf = queue => queue.servers.map(({ id, host, port }) => ({ id, host, port }));

    /** Resolves when the manager has told of something. */
    async function happens(event, send) {
        const told = until(fleet.manager, event);
        await send();
        await told;
    }
    const up = broker => () => fleet.sender.up({ ...BROKER, ...broker });
    const down = broker => () => fleet.sender.down({ ...BROKER, ...broker });

    it('should be given brokers, and lose those that leave', async () => {
        const queue = createQueue();

        await happens('add', up());
        await happens('add', up({ id: 'id-2', host: '10.0.0.2' }));
        await happens('remove', down());

        expect(brokersOf(queue)).toEqual([{ id: 'id-2', host: '10.0.0.2', port: 6379 }]);
        await queue.destroy();
    });

    it('should keep a broker that restarts, and lose it when it leaves', async () => {
        const queue = createQueue();

        await happens('add', up());
        await happens('update', up({ id: 'id-2' }));
        expect(brokersOf(queue)).toHaveLength(1);

        await happens('remove', down({ id: 'id-2' }));
        expect(brokersOf(queue)).toEqual([]);
        await queue.destroy();
    });

    it('should be given a broker that moves, and the one that took its address over', async () => {
        const queue = createQueue();

        await happens('add', up());
        await happens('update', up({ id: 'id-2' }));
        const both = new Promise(resolve => {
            queue.clusterEmitter.on('add', () => queue.servers.length === 2 && resolve());
        });
        await happens('add', up({ host: '10.0.0.2' }));
        await both;

        expect(brokersOf(queue).map(({ id, host }) => `${id} ${host}`).sort())
            .toEqual(['id-1 10.0.0.2', 'id-2 10.0.0.1']);
        await queue.destroy();
    });

    it('should not be ended by the error of a queue whose broker left', async () => {
        const queue = createQueue();
        await happens('add', up());
        const [{ imq }] = queue.servers;
        await happens('remove', down());

        expect(() => imq.emit('error', new Error('Connection is closed.'))).not.toThrow();
        expect(fleet.logger.warn).toHaveBeenCalledWith(expect.stringContaining('10.0.0.1:6379'));
        await queue.destroy();
    });

    it('should share a manager, which ends with the last of them and starts anew', async () => {
        const queues = [createQueue(), createQueue()];
        await happens('add', up());
        expect(queues.map(brokersOf)).toEqual([[expect.anything()], [expect.anything()]]);

        await queues[0].destroy();
        expect(fleet.manager.listening).toBe(true);
        await queues[1].destroy();
        expect(fleet.manager.listening).toBe(false);

        const listening = until(fleet.manager, 'listening');
        const late = createQueue();
        await listening;
        await happens('add', up());
        expect(brokersOf(late)).toHaveLength(1);
        await late.destroy();
    });

    it('should be given brokers that were known before it was made', async () => {
        await happens('add', up());
        const queue = createQueue();
        await Promise.resolve();

        expect(brokersOf(queue)).toHaveLength(1);
        await queue.destroy();
    });
});

describe('UDPClusterManager of @imqueue/core', () => {
    it.each(['before', 'after'])('should hear the same port when it starts %s us', async when => {
        const port = await freePort();
        const { stdout, stderr } = await runScript(`
            const { UDPClusterManager } = require('@imqueue/core');
            const { RustUDPClusterManager } = require('./index.js');
            const { Sender } = require('./__test__/helpers/udp.js');
            const heard = [];
            const watch = (Manager, name) => {
                const logger = { log() {}, info() {}, warn() {}, error() {} };
                const options = { port: ${port}, ...name === 'ours' ? { logger } : {} };
                new Manager(options).init({
                    add() {
                        heard.includes(name) || heard.push(name);
                        if (heard.length === 2) {
                            console.log(heard.sort().join());
                            process.exit();
                        }
                    },
                    remove() {},
                });
            };
            const starts = [
                () => watch(UDPClusterManager, 'theirs'),
                () => watch(RustUDPClusterManager, 'ours'),
            ];
            const sender = new Sender(${port});
            ${when === 'after' ? 'starts.reverse();' : ''}
            starts[0]();
            setTimeout(starts[1], 300);
            setInterval(() => {
                sender.send('imq-broker\\tid-1\\tup\\t10.0.0.1:6379\\t60', '127.255.255.255');
            }, 50);
        `);

        expect(stderr).toBe('');
        expect(stdout).toBe('ours,theirs\n');
    }, 30_000);
});
