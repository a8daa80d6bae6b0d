'use strict';

const path = require('node:path');
const { mkdtempSync, rmSync, writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');

const { ROOT, runNode } = require('./helpers/run-node.js');
const { freePort } = require('./helpers/udp.js');

/** Test runners see what others do not: what keeps a process up, and what is left open. */
describe('the tests of a service', () => {
    let directory;
    let port;

    beforeEach(async () => {
        directory = mkdtempSync(path.join(tmpdir(), 'imqueue-udp-runner-'));
        port = await freePort();
    });

    afterEach(() => rmSync(directory, { recursive: true }));

    function write(name, hooks) {
        const file = path.join(directory, name);
        writeFileSync(file, `
            'use strict';
            ${hooks}
            const { once } = require('node:events');
            const { RustUDPClusterManager, Announcer } = require(${JSON.stringify(ROOT)});
            const logger = { log() {}, info() {}, warn() {}, error() {} };

            describe('a service', () => {
                let manager;
                beforeEach(() => {
                    manager = new RustUDPClusterManager({ port: ${port}, logger });
                });
                afterEach(() => manager.destroy());

                for (const number of [1, 2, 3]) {
                    it('should find broker ' + number, async () => {
                        const announcer = new Announcer({
                            host: '10.0.0.1',
                            port: number,
                            destinations: ['127.0.0.1:${port}'],
                            logger,
                        });
                        const added = once(manager, 'add');
                        await announcer.start();
                        await added;
                        await announcer.stop();
                    });
                }
            });
        `);
        return file;
    }

    it('should end by themselves under node --test', async () => {
        const file = write(
            'service.test.js',
            "const { afterEach, beforeEach, describe, it } = require('node:test');",
        );
        const { code, signal, stdout } = await runNode(['--test', '--test-reporter=tap', file]);

        expect([code, signal]).toEqual([0, null]);
        expect(stdout).toMatch(/^# pass 3$/m);
    });

    it('should leave no handle open under Jest', async () => {
        write('service.spec.js', '');
        const { code, signal, stderr } = await runNode([
            path.join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js'),
            '--config={}', '--rootDir', directory, '--detectOpenHandles',
        ]);

        expect([code, signal]).toEqual([0, null]);
        expect(stderr).toMatch(/^Tests:\s+3 passed, 3 total$/m);
        expect(stderr).not.toMatch(/open handle|did not exit/);
    });

    it.each([
        ['fake timers', "beforeEach(() => jest.useFakeTimers({ doNotFake: ['nextTick'] }));"],
        ['timers of a browser', 'globalThis.setInterval = globalThis.setTimeout = () => 1;'],
    ])('should serve clusters with %s', async (_, hooks) => {
        const file = path.join(directory, 'service.spec.js');
        writeFileSync(file, `
            const { once } = require('node:events');
            const { setTimeout } = require('node:timers/promises');
            const { Announcer, RustUDPClusterManager } = require(${JSON.stringify(ROOT)});
            const logger = { log() {}, info() {}, warn() {}, error() {} };
            ${hooks}

            it('should offer again, and let go of the reader of a broker that leaves', async () => {
                const manager = new RustUDPClusterManager({ port: ${port}, logger });
                const stop = jest.fn();
                const queue = { reader: { status: 'ready' }, stop, removeAllListeners() {} };
                const add = jest.fn()
                    .mockImplementationOnce(() => { throw new Error('not yet'); })
                    .mockImplementation(() => ({ imq: queue }));
                manager.init({ add, remove: () => queue.stop() });
                const announcer = new Announcer({
                    host: '10.0.0.1',
                    port: 1,
                    destinations: ['127.0.0.1:${port}'],
                    logger,
                });

                const added = once(manager, 'add');
                await announcer.start();
                await added;
                for (let count = 0; count < 100 && add.mock.calls.length < 2; count += 1) {
                    await setTimeout(100);
                }
                expect(add).toHaveBeenCalledTimes(2);

                await announcer.stop();
                for (let count = 0; count < 100 && stop.mock.calls.length < 1; count += 1) {
                    await setTimeout(100);
                }
                expect(stop).toHaveBeenCalled();
                await manager.destroy();
            }, 25_000);
        `);
        const { code, signal, stderr } = await runNode([
            path.join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js'),
            '--config={}', '--rootDir', directory,
        ]);

        expect(stderr).toMatch(/^Tests:\s+1 passed, 1 total$/m);
        expect([code, signal]).toEqual([0, null]);
    });
});
