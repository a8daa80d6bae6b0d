'use strict';

const { runScript } = require('./helpers/run-node.js');
const { freePort } = require('./helpers/udp.js');

/** Runs a program that has a manager and a flood of announcements to it. */
async function runFlooded(source, options) {
    const port = await freePort();
    return runScript(`
        const { RustUDPClusterManager, Announcer } = require('./index.js');
        const { flood } = require('./__test__/helpers/flood.js');
        const silent = { log() {}, info() {}, warn() {}, error() {} };
        const port = ${port};
        const options = { port, logger: silent, maxServers: 100000 };
        const manager = new RustUDPClusterManager(options);
        flood(port);
        ${source}
    `, options);
}

/** A manager or an announcer and what follows, without any traffic from outside. */
async function runQuiet(source, options) {
    const port = await freePort();
    return runScript(`
        const { RustUDPClusterManager, Announcer } = require('./index.js');
        const logger = { log() {}, info() {}, warn() {}, error() {} };
        const manager = new RustUDPClusterManager({ port: ${port}, logger });
        const announcer = new Announcer({
            host: '10.0.0.1',
            port: 6379,
            destinations: ['127.0.0.1:${port}'],
            logger,
        });
        ${source}
    `, options);
}

/** Prints how long the process stayed up after what comes before. */
const TIME_TO_EXIT = `
    const done = performance.now();
    process.on('exit', () => console.log(performance.now() - done));
`;

describe('the end of a process', () => {
    it('should come by itself within a second after the last destroy', async () => {
        const { code, stdout } = await runQuiet(`
            manager.once('listening', async () => {
                await announcer.start();
                await announcer.stop();
                await manager.destroy();
                ${TIME_TO_EXIT}
            });
        `);

        expect(code).toBe(0);
        expect(Number(stdout)).toBeLessThan(1000);
    });

    it('should come after a destroy at once', async () => {
        const { code, stdout } = await runQuiet(`manager.destroy(); ${TIME_TO_EXIT}`);

        expect(code).toBe(0);
        expect(Number(stdout)).toBeLessThan(1000);
    });

    it('should come after destroy however often it is called, also at the same time', async () => {
        const { code, stdout } = await runQuiet(`
            manager.once('listening', async () => {
                await Promise.all([manager.destroy(), manager.destroy(), manager.destroy()]);
                await manager.destroy();
                await manager.remove('never seen');
                ${TIME_TO_EXIT}
            });
        `);

        expect(code).toBe(0);
        expect(Number(stdout)).toBeLessThan(1000);
    });

    it.each([
        ['a manager listens', ''],
        ['an announcer announces', 'announcer.start(); manager.unref();'],
        ['a manager listens again', 'manager.destroy(); manager.init({ add() {}, remove() {} });'],
    ])('should not come while %s', async (_, source) => {
        const { signal } = await runQuiet(source, { timeout: 1500 });
        expect(signal).toBe('SIGKILL');
    });

    it.each([
        ['a manager', 'manager.unref();'],
        ['an announcer', 'manager.unref(); announcer.unref().start();'],
        ['a manager that was ref()ed before', 'manager.ref().unref();'],
    ])('should come in spite of %s that is unref()ed', async (_, source) => {
        const { code } = await runQuiet(source);
        expect(code).toBe(0);
    });
});

describe('the end of a process under a flood of announcements', () => {
    const rounds = [1, 2, 3];
    const EXIT_AFTER = 'let adds = 0; manager.on("add", () => { adds += 1; if (adds === 300)';

    it.each(rounds)('should have the code of process.exit (%i)', async () => {
        const { code, signal } = await runFlooded(`${EXIT_AFTER} process.exit(7); });`);
        expect([code, signal]).toEqual([7, null]);
    });

    it.each(rounds)('should have the code of an uncaught exception (%i)', async () => {
        const { code, signal, stderr } = await runFlooded(
            `${EXIT_AFTER} throw new Error("mine"); });`,
        );
        expect([code, signal]).toEqual([1, null]);
        expect(stderr).toMatch(/Error: mine\n\s+at RustUDPClusterManager/);
    });

    it.each(rounds)('should be that of SIGTERM (%i)', async () => {
        const { signal } = await runFlooded(
            `${EXIT_AFTER} process.kill(process.pid, 'SIGTERM'); });`,
        );
        expect(signal).toBe('SIGTERM');
    });

    it('should leave a signal to the handler of the application, once', async () => {
        const { code, stdout } = await runFlooded(`
            process.on('SIGTERM', () => {
                console.log('handled');
                setTimeout(() => process.exit(3), 50);
            });
            manager.once('add', () => process.kill(process.pid, 'SIGTERM'));
        `);
        expect([code, stdout]).toEqual([3, 'handled\n']);
    });

    it('should be up to who handles uncaught exceptions', async () => {
        const { code, stdout } = await runFlooded(`
            const caught = [];
            process.on('uncaughtException', error => caught.push(error.message));
            let adds = 0;
            manager.on('add', () => {
                adds += 1;
                if (adds % 10 === 0) {
                    throw new Error('tenth');
                }
                if (adds > 1000) {
                    manager.destroy();
                    setImmediate(() => {
                        console.log(caught.length, new Set(caught).size);
                        process.exit();
                    });
                }
            });
        `);
        expect([code, stdout]).toEqual([0, '100 1\n']);
    });

    it('should come by itself after destroy', async () => {
        const { code, stdout } = await runFlooded(`
            let late = 0;
            manager.once('add', async () => {
                await manager.destroy();
                manager.on('add', () => { late += 1; });
                process.on('exit', () => console.log(late));
            });
        `);
        expect([code, stdout]).toEqual([0, '0\n']);
    });
});

describe('destroy in a callback under a flood of announcements', () => {
    const callbacks = ['add of a cluster', 'an event'];

    it.each(callbacks)('should be the end of all callbacks: %s', async callback => {
        const { code, stdout } = await runFlooded(`
            const calls = { before: 0, after: 0 };
            let destroyed = false;
            function called() {
                calls[destroyed ? 'after' : 'before'] += 1;
                if (calls.before === 100) {
                    manager.destroy().then(() => setTimeout(() => {
                        console.log(JSON.stringify(calls));
                    }, 200));
                    destroyed = true;
                }
            }
            const isCluster = ${callback === callbacks[0]};
            manager.init({ add() { isCluster && called(); }, remove() { called(); } });
            isCluster || manager.on('add', called);
        `);

        expect(code).toBe(0);
        expect(JSON.parse(stdout)).toEqual({ before: 100, after: 0 });
    });
});

describe('worker threads', () => {
    it('should load the addon one after the other', async () => {
        const port = await freePort();
        const { code, stdout } = await runScript(`
            const { Worker } = require('node:worker_threads');
            const { once } = require('node:events');
            const source = \`
                const { RustUDPClusterManager } = require('./index.js');
                const { Sender } = require('./__test__/helpers/udp.js');
                const logger = { log() {}, info() {}, warn() {}, error() {} };
                const manager = new RustUDPClusterManager({ port: ${port}, logger });
                const sender = new Sender(${port});
                manager.once('listening', () => sender.up());
                manager.once('add', async ({ id }) => {
                    console.log(id);
                    sender.close();
                    await manager.destroy();
                });
            \`;
            (async () => {
                for (let count = 0; count < 3; count += 1) {
                    await once(new Worker(source, { eval: true }), 'exit');
                }
            })();
        `);
        expect([code, stdout]).toEqual([0, 'id-1\n'.repeat(3)]);
    });

    it('should be terminated at any moment without harm to the others', async () => {
        const { code, signal, stdout, stderr } = await runFlooded(`
            const { Worker } = require('node:worker_threads');
            const { once } = require('node:events');
            const source = \`
                const { RustUDPClusterManager } = require('./index.js');
                const logger = { log() {}, info() {}, warn() {}, error() {} };
                const options = { port: \${port}, logger, maxServers: 100000 };
                const manager = new RustUDPClusterManager(options);
                const { parentPort } = require('node:worker_threads');
                manager.once('add', () => parentPort.postMessage('add'));
            \`;
            const pause = ms => new Promise(resolve => setTimeout(resolve, ms));

            async function work(number) {
                const worker = new Worker(source, { eval: true });
                // Some are ended while they start, some under load.
                await (number % 2 === 0 ? once(worker, 'message') : pause(number * 3));
                await worker.terminate();
            }
            (async () => {
                for (let round = 0; round < 5; round += 1) {
                    await Promise.all([0, 1, 2, 3, 5, 7].map(number => work(number)));
                }
                await once(manager, 'add');
                await manager.destroy();
                console.log('ok');
            })();
        `, { timeout: 50_000 });

        expect(stderr).toBe('');
        expect([code, signal, stdout]).toEqual([0, null, 'ok\n']);
    }, 60_000);

    it('should end by themselves after destroy, and through process.exit', async () => {
        const { code, stdout } = await runFlooded(`
            const { Worker } = require('node:worker_threads');
            const { once } = require('node:events');
            const start = end => new Worker(\`
                const { RustUDPClusterManager } = require('./index.js');
                const logger = { log() {}, info() {}, warn() {}, error() {} };
                const manager = new RustUDPClusterManager({ port: \${port}, logger });
                manager.once('add', async () => { \${end} });
            \`, { eval: true });
            Promise.all([
                once(start('await manager.destroy();'), 'exit'),
                once(start('process.exit(5);'), 'exit'),
            ]).then(codes => {
                console.log(codes.join());
                return manager.destroy();
            });
        `);
        expect([code, stdout]).toEqual([0, '0,5\n']);
    });
});
