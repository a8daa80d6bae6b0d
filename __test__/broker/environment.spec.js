'use strict';

const { execFileSync } = require('node:child_process');
const { mkdtempSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');

const { freeTcpPort } = require('../../demo/support/ports.js');
const { createScene } = require('../helpers/broker-scene.js');
const { monotonicNow, until } = require('../helpers/program.js');
const { nothingFor } = require('../helpers/said.js');
const { describeModules } = require('../helpers/servers.js');

describeModules('a Redis that is set up in another way', () => {
    const scene = createScene();
    let broker;
    let directory;

    beforeEach(() => {
        directory = mkdtempSync(join(tmpdir(), 'imqueue-broker-files-'));
    });

    afterEach(() => rmSync(directory, { recursive: true }));

    async function start(options) {
        broker = await scene.redis(options);
    }

    const plain = () => ({ address: broker.address, transport: 'plain' });

    async function expectNothing() {
        // Nothing is to be said.
        await nothingFor(400);
        expect(scene.ear.heard).toEqual([]);
    }

    it('should be announced without netlink, which the unit of Debian forbids', async () => {
        const sandbox = join(directory, 'sandbox');
        execFileSync('cc', ['-o', sandbox, join(__dirname, '..', 'helpers', 'sandbox.c')]);
        await start({ within: [sandbox] });
        await scene.ear.up(plain());
        await broker.send('SHUTDOWN', 'NOSAVE');
        await scene.ear.down();
    });

    describe('without a command CONFIG', () => {
        const config = ['--rename-command', 'CONFIG', ''];

        it('should not be announced by guess, and say what is missing', async () => {
            await start({ config });
            await broker.logged('give the module the arguments redis-port');
            await expectNothing();
        });

        it('should be announced as the arguments say', async () => {
            const port = await freeTcpPort();
            await start({ args: ['redis-port', String(port), 'redis-bind', '*'], config, port });
            await scene.ear.up(plain());
            await broker.logged('not from Redis');
        });
    });

    it('should not be announced as a host of the network where only this host can reach it', async () => {
        await start({ config: ['--bind', '127.0.0.1'], env: { SELECTED_INTERFACES: '' } });
        await broker.logged('Redis listens on loopback only');
        await expectNothing();
    });

    it('should keep its threads from taking signals', async () => {
        await start();
        await scene.ear.up(plain());
        const names = ['imq-udp-hub', 'imq-watch'];
        // A thread has its name once it runs.
        await until(() => names.every(name => broker.threads.includes(name)));
        const masks = broker.signalMasks;
        // SIGHUP, SIGINT, SIGUSR1, SIGUSR2, SIGALRM and SIGTERM.
        const taken = [1, 2, 10, 12, 14, 15].reduce((mask, it) => mask | 1n << BigInt(it - 1), 0n);
        for (const name of names) {
            expect(masks[name] & taken).toBe(taken);
        }
    });

    it('should not be announced with a port that nobody listens on, whoever says so', async () => {
        const port = await freeTcpPort();
        await start({ args: ['redis-port', String(port), 'redis-bind', '*'] });
        await broker.logged(`Redis does not listen on 127.0.0.1:${port}`);
        await expectNothing();
    });

    it('should go on being announced while Redis has no descriptor left', async () => {
        await start({ env: { REDIS_BROADCAST_INTERVAL: '0.2' } });
        await scene.ear.up(plain());
        // It could not take this connection later.
        await broker.call('PING');
        // Its addresses cannot be listed then. They are every 500 ms.
        execFileSync('prlimit', ['--pid', String(broker.pid), '--nofile=3:']);
        await nothingFor(800);
        await broker.call('CONFIG', 'SET', 'timeout', '0');
        await scene.ear.up(plain(), monotonicNow());
        expect(scene.ear.heard.every(({ type }) => type === 'up')).toBe(true);
    });

    describe('with TLS', () => {
        let files;
        let tlsPort;

        beforeEach(async () => {
            tlsPort = await freeTcpPort();
            files = ['key', 'crt'].map(name => join(directory, `redis.${name}`));
            execFileSync('openssl', [
                'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1',
                '-nodes', '-subj', '/CN=redis', '-keyout', files[0], '-out', files[1],
            ], { stdio: 'ignore' });
        });

        const tls = () => ({ address: `127.0.0.1:${tlsPort}`, transport: 'tls' });

        function startWithTls(options) {
            return start({
                ...options,
                config: [
                    '--tls-port', String(tlsPort), '--tls-auth-clients', 'no',
                    '--tls-key-file', files[0], '--tls-cert-file', files[1],
                ],
            });
        }

        it('should be announced with its TLS port where that is the only one', async () => {
            await startWithTls({ port: 0 });
            const { text } = await scene.ear.up(tls());
            expect(text).toMatch(/\t1\ttls$/);
            await broker.send('SHUTDOWN', 'NOSAVE');
            await scene.ear.down({ address: tls().address });
        });

        it('should be announced with its plain port, which those who run already use', async () => {
            await startWithTls();
            await scene.ear.up(plain());
            expect(scene.ear.heard.every(({ transport }) => transport === 'plain')).toBe(true);
        });

        it('should be announced with its TLS port when told so, and with none when it has none', async () => {
            await startWithTls({ env: { REDIS_BROADCAST_TLS: 'yes' } });
            await scene.ear.up(tls());
            const since = monotonicNow();
            await broker.call('CONFIG', 'SET', 'tls-port', '0');
            await broker.logged('Redis has no tls-port');
            await scene.ear.down({ address: tls().address }, since);
        });

        it('should not be announced with a plain port that it does not have', async () => {
            await startWithTls({ args: ['tls', 'no'], port: 0 });
            await broker.logged('REDIS_BROADCAST_TLS says no');
            await expectNothing();
        });
    });
});
