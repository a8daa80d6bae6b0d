'use strict';

const { adoptLoosePromises } = require('../lib/loose-promises.js');
const { runScript } = require('./helpers/run-node.js');
const { Sender, freePort } = require('./helpers/udp.js');
const { startService } = require('./helpers/queue-service.js');

const settled = () => new Promise(resolve => setImmediate(resolve));

describe('adoptLoosePromises', () => {
    it('should pass on what the callback returns', () => {
        const result = {};
        expect(adoptLoosePromises(() => result, jest.fn())).toBe(result);
    });

    it('should pass on what the callback throws', () => {
        const error = new Error('refused');
        const callback = () => {
            throw error;
        };
        expect(() => adoptLoosePromises(callback, jest.fn())).toThrow(error);
    });

    it('should report an error once, through however many promises it passes', async () => {
        const report = jest.fn();
        const error = new Error('Connection is closed.');
        const connect = async () => {
            await settled();
            throw error;
        };
        const start = async () => connect();

        adoptLoosePromises(() => {
            start().then(() => 'started');
        }, report);
        await settled();
        await settled();

        expect(report.mock.calls).toEqual([[error]]);
    });

    it('should not set off a promise that waits to be awaited', async () => {
        const then = jest.fn();
        class Lazy extends Promise {
            then(...args) {
                then();
                return super.then(...args);
            }
        }

        adoptLoosePromises(() => { new Lazy(() => {}); }, jest.fn());
        await settled();

        expect(then).not.toHaveBeenCalled();
    });

    it('should leave alone what is made after the call', async () => {
        const report = jest.fn();

        adoptLoosePromises(() => undefined, report);
        await Promise.reject(new Error('of somebody else')).catch(() => undefined);

        expect(report).not.toHaveBeenCalled();
    });

    it('should keep the process alive', async () => {
        const reject = 'Promise.reject(new Error("loose"))';
        const adopted = `require('./lib/loose-promises.js')
            .adoptLoosePromises(() => { ${reject}; }, error => console.log(error.message))`;

        expect(await runScript(adopted)).toMatchObject({ code: 0, stdout: 'loose\n' });
        expect(await runScript(reject)).toMatchObject({ code: 1 });
    });
});

describe('a service that hears of an address where nobody is', () => {
    it('should go on, and end by itself', async () => {
        const port = await freePort();
        const dead = await freePort();
        const service = startService({ port, aliveTimeoutCorrection: 500 });
        const sender = new Sender(port);

        try {
            await service.says('listening');
            await sender.up({ host: '127.0.0.1', port: dead, interval: 0.1 });
            await service.says(`removed ${dead}`);
            service.child.stdin.end();

            expect(await service.ended).toEqual([0, null]);
            expect(service.errors).toBe('');
        } finally {
            sender.close();
            service.child.kill('SIGKILL');
        }
    });
});
