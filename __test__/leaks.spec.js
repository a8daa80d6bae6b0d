'use strict';

const { runNode } = require('./helpers/run-node.js');
const { freePort } = require('./helpers/udp.js');
const { onLinux } = require('./helpers/unless.js');

const MEGABYTE = 2 ** 20;

const itOnLinux = onLinux('only Linux shows descriptors and threads as files', it);

describe('ten thousand managers, one after the other', () => {
    itOnLinux('should leave no memory, no threads and no descriptors behind', async () => {
        const port = await freePort();
        const source = `
            const { readdirSync } = require('node:fs');
            const { once } = require('node:events');
            const { RustUDPClusterManager } = require('./index.js');
            const logger = { log() {}, info() {}, warn() {}, error() {} };

            async function cycle(count) {
                for (let number = 0; number < count; number += 1) {
                    const manager = new RustUDPClusterManager({ port: ${port}, logger });
                    if (number % 4 === 0) {
                        await once(manager, 'listening');
                    }
                    manager.init({ add() {}, remove() {} });
                    await manager.destroy();
                }
            }
            function measure() {
                gc();
                return {
                    descriptors: readdirSync('/proc/self/fd').length,
                    threads: readdirSync('/proc/self/task').length,
                    rss: process.memoryUsage().rss,
                };
            }
            (async () => {
                await cycle(1000);
                const before = measure();
                await cycle(10_000);
                console.log(JSON.stringify([before, measure()]));
            })();
        `;
        const { stdout, code } = await runNode(
            ['--expose-gc', '--eval', source],
            { timeout: 50_000 },
        );

        expect(code).toBe(0);
        const [before, after] = JSON.parse(stdout);
        expect(after.descriptors).toBe(before.descriptors);
        expect(after.threads).toBe(before.threads);
        expect(after.rss - before.rss).toBeLessThan(8 * MEGABYTE);
    }, 60_000);
});
