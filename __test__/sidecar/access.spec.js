'use strict';

const { mkdtempSync, rmSync, writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');

const { freeTcpPort } = require('../../demo/support/ports.js');
const { makeCertificates } = require('../helpers/kubernetes/authority.js');
const { nothingFor } = require('../helpers/said.js');
const { createScene } = require('../helpers/sidecar-scene.js');

describe('a sidecar that has to log in', () => {
    const scene = createScene();
    let directory;

    beforeAll(() => {
        directory = mkdtempSync(join(tmpdir(), 'imqueue-sidecar-'));
    });

    afterAll(() => rmSync(directory, { recursive: true }));

    const file = (name, content) => {
        const path = join(directory, name);
        writeFileSync(path, content);
        return path;
    };

    const protectedRedis = async () => {
        const redis = await scene.redis();
        await redis.call('CONFIG', 'SET', 'requirepass', 'secret word');
        return redis;
    };

    const reachUp = redis => scene.ear.up({ address: redis.address });

    it('should do so with a password from the environment, or from a URL', async () => {
        const redis = await protectedRedis();
        const first = await scene.sidecar(redis, [], {
            env: { IMQ_ANNOUNCER_PASSWORD: 'secret word' },
        });
        const up = await reachUp(redis);
        first.signal('SIGTERM');
        await first.ended;

        await scene.sidecar(`redis://:secret%20word@${redis.address}`);
        await scene.ear.up({ address: up.address }, up.at);
    });

    it('should read a password that has changed from its file again', async () => {
        const redis = await protectedRedis();
        const path = file('password', 'old word\n');
        const sidecar = await scene.sidecar(redis, ['--password-file', path]);
        await sidecar.logged(/error: .* not announced: it answers: WRONGPASS/);
        expect(await sidecar.metric('announcing')).toBe(0);

        file('password', 'secret word\n');
        await reachUp(redis);
        expect(sidecar.lines.join('\n')).not.toMatch(/(secret|old) word/);
    });

    it('should say so when there is no password', async () => {
        const redis = await protectedRedis();
        const sidecar = await scene.sidecar(redis);
        expect(await sidecar.logged(/not announced/)).toMatch(
            /error: Redis at 127\.0\.0\.1:\d+: not announced: it answers: NOAUTH/,
        );
    });

    const asUser = async (...rules) => {
        const redis = await scene.redis();
        await redis.call('ACL', 'SETUSER', 'probe', 'on', '>secret', 'resetkeys', '-@all', ...rules);
        const args = ['--user', 'probe', '--password', 'secret', '--interval', '0.2'];
        const sidecar = await scene.sidecar(redis, args);
        return { redis, sidecar };
    };

    it('should be content with PING, ROLE and INFO', async () => {
        const { redis, sidecar } = await asUser('+ping', '+role', '+info');
        await reachUp(redis);
        expect(sidecar.lines.filter(line => line.includes('warn'))).toEqual([]);
    });

    it('should be content with PING and INFO', async () => {
        const { redis, sidecar } = await asUser('+ping', '+info');
        const up = await reachUp(redis);
        expect(sidecar.lines.filter(line => line.includes('warn'))).toEqual([]);

        const master = await scene.redis();
        await redis.call('REPLICAOF', '127.0.0.1', String(master.port));
        await scene.ear.down({ id: up.id });
    });

    it('should be content with PING alone, and warn', async () => {
        const { redis, sidecar } = await asUser('+ping');
        const up = await reachUp(redis);
        await sidecar.logged(/warn: Redis allows neither ROLE nor INFO/);

        // What comes back after a crash is another broker.
        redis.signal('SIGKILL');
        await scene.ear.down({ id: up.id });
        await redis.ended;
        const again = await scene.redis({ port: redis.port });
        await again.call('ACL', 'SETUSER', 'probe', 'on', '>secret', '-@all', '+ping');
        const other = await scene.ear.up({ address: up.address }, up.at + 400);
        expect(other.id).not.toBe(up.id);
    });

    it('should say which permission is missing', async () => {
        const { sidecar } = await asUser('+info');
        await sidecar.logged(/error: .*NOPERM .*ping/);
    });

    it('should work with commands that are renamed away', async () => {
        const config = ['--rename-command', 'INFO', '', '--rename-command', 'ROLE', ''];
        const { sidecar } = await scene.announced([], { config });
        await sidecar.logged(/warn: Redis allows neither ROLE nor INFO/);
    });

    it('should come by a Unix socket', async () => {
        const redis = await scene.redis();
        const socket = `unix://${join(redis.dir, 'redis.sock')}`;
        await scene.sidecar(socket, ['--advertise', redis.address]);
        const up = await reachUp(redis);
        expect(up.transport).toBe('plain');

        const killed = redis.signal('SIGKILL');
        const down = await scene.ear.down({ id: up.id });
        expect(down.at - killed).toBeLessThan(250);
    });

    describe('to a Redis with TLS', () => {
        let server;
        let client;
        let paths;
        let redis;

        beforeAll(() => {
            [server, client] = [makeCertificates(['127.0.0.1']), makeCertificates(['127.0.0.1'])];
            paths = {
                ca: file('ca.crt', server.authority),
                certificate: file('server.crt', server.cert),
                key: file('server.key', server.key),
                clientCa: file('client-ca.crt', client.authority),
                clientCertificate: file('client.crt', client.cert),
                clientKey: file('client.key', client.key),
            };
        });

        const secureRedis = async () => {
            const tlsPort = await freeTcpPort();
            redis = await scene.redis({
                port: 0,
                config: [
                    '--tls-port', String(tlsPort), '--tls-cert-file', paths.certificate,
                    '--tls-key-file', paths.key, '--tls-ca-cert-file', paths.clientCa,
                ],
            });
            return `rediss://127.0.0.1:${tlsPort}`;
        };

        const asClient = () => [
            '--tls-cert', paths.clientCertificate, '--tls-key', paths.clientKey,
        ];

        it('should show its certificate, and tell services to speak TLS', async () => {
            const url = await secureRedis();
            const sidecar = await scene.sidecar(url, ['--tls-ca', paths.ca, ...asClient()]);
            const up = await scene.ear.up();
            expect(up).toMatchObject({
                address: url.replace('rediss://', ''), transport: 'tls',
            });
            expect(await sidecar.metric('announcing')).toBe(1);
        });

        it('should not fill the log of Redis by looking where it listens', async () => {
            const url = await secureRedis();
            await scene.sidecar(url, ['--tls-ca', paths.ca, ...asClient()]);
            await scene.ear.up();
            const before = redis.lines.length;
            await nothingFor(2000);
            expect(redis.lines.slice(before)).toEqual([]);
        });

        it('should take it back within 100 ms when it crashes', async () => {
            const url = await secureRedis();
            await scene.sidecar(url, ['--tls-ca', paths.ca, ...asClient()]);
            const up = await scene.ear.up();
            const killed = redis.signal('SIGKILL');
            const down = await scene.ear.down({ id: up.id });
            expect(down.at - killed).toBeLessThan(250);
        });

        it('should say what is wrong without a certificate', async () => {
            const url = await secureRedis();
            const sidecar = await scene.sidecar(url, ['--tls-ca', paths.ca]);
            await sidecar.logged(/not announced: it cannot be reached: .*certificate/i);
        });

        it('should say what may be wrong where only one side speaks TLS', async () => {
            const url = await secureRedis();
            const plain = await scene.sidecar(url.replace('rediss', 'redis'));
            await plain.logged(/not announced: it cannot be reached: .*rediss:\/\/ or --tls/);

            const silent = await scene.redis();
            const secure = await scene.sidecar(`rediss://127.0.0.1:${silent.port}`);
            await secure.logged(/not announced: it cannot be reached: .*does it speak TLS there/);
        });

        it('should trust nobody else', async () => {
            const url = await secureRedis();
            const args = ['--tls-ca', paths.clientCa, ...asClient()];
            const sidecar = await scene.sidecar(url, args);
            await sidecar.logged(/not announced: it cannot be reached: invalid peer certificate/);
        });

        it('should speak to a server that is called otherwise', async () => {
            const url = await secureRedis();
            const args = ['--tls-ca', paths.ca, '--tls-name', 'localhost', ...asClient()];
            await scene.sidecar(url, args);
            await scene.ear.up();
        });
    });
});
