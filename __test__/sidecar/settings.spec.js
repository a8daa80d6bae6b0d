'use strict';

const { spawnSync } = require('node:child_process');

const { modulePath } = require('../helpers/broker.js');
const { Sidecar } = require('../helpers/sidecar.js');

function run(args, env = {}) {
    const { status, stdout, stderr } = spawnSync(modulePath('imq-announcer'), args, {
        encoding: 'utf8', env: { PATH: process.env.PATH, ...env }, timeout: 10_000,
    });
    return { status, stdout, stderr: stderr.trim() };
}

/** The settings that it prints, by name. */
function config(args, env) {
    const { status, stdout, stderr } = run([...args, '--print-config'], env);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    return Object.fromEntries(stdout.trim().split('\n')
        .map(line => [line.slice(0, 16).trim(), line.slice(16)]));
}

describe('the help of imq-announcer', () => {
    it('should tell which recipe is for what, and give examples', () => {
        const { status, stdout } = run(['--help']);
        expect(status).toBe(0);
        for (const text of [
            'broadcast:', 'kubernetes:', 'unicast:', 'Examples:', 'rediss://cache.example.com',
            'IMQ_ANNOUNCER_PASSWORD', 'REDIS_BROADCAST_INTERVAL', 'DEPLOYMENT_ENV', '+ping',
        ]) {
            expect(stdout).toContain(text);
        }
        expect(Math.max(...stdout.split('\n').map(line => line.length))).toBeLessThanOrEqual(100);
    });

    it('should break the lines of its last paragraph where the terminal does, and nowhere else', () => {
        const { stdout } = run(['--help'], { COLUMNS: '60' });
        const last = stdout.trim().split('\n\n').at(-1).split('\n');
        expect(last[0]).toMatch(/^It ends with 0/);
        last.slice(0, -1).forEach((line, index) => {
            const [next] = last[index + 1].split(' ');
            expect(`${line} ${next}`.length).toBeGreaterThan(60);
        });
    });

    it('should show no secret', () => {
        const { stdout } = run(['--help'], {
            IMQ_ANNOUNCER_PASSWORD: 'hunter2', IMQ_ANNOUNCER_REDIS: 'redis://:hunter2@x',
        });
        expect(stdout).not.toContain('hunter2');
    });

    it('should give every flag a variable', () => {
        const flags = run(['--help']).stdout.split(/\n+(?= +(?:-\w, )?--)/).slice(1)
            .filter(text => !/--(print-config|help|version)/.test(text));
        expect(flags.length).toBeGreaterThan(20);
        flags.forEach(text => expect(text).toMatch(/\[env: [A-Z_]+/));
    });
});

describe('the settings of imq-announcer', () => {
    it('should have defaults for all but the recipe', () => {
        expect(config(['broadcast'])).toMatchObject({
            'recipe': 'broadcast',
            'redis': '127.0.0.1:6379',
            'name': 'imq-broker',
            'interval': '1s',
            'to': 'every network, port 63000',
            'redis-timeout': '2s',
            'announce-tls': 'no',
            'password': 'none',
        });
    });

    it('should come from the environment, and from the command line rather', () => {
        const env = {
            IMQ_ANNOUNCER_RECIPE: 'unicast',
            IMQ_ANNOUNCER_TO: '10.0.0.1,workers.local:7,[fd00::1]',
            IMQ_ANNOUNCER_REDIS: 'rediss://me:hunter2@cache.example.com:6390/0',
            IMQ_ANNOUNCER_TLS_CA: '/etc/ssl/certs/ca-certificates.crt',
            REDIS_BROADCAST_NAME: 'orders',
            REDIS_BROADCAST_PORT: '63001',
            REDIS_BROADCAST_INTERVAL: '2.5',
            REDIS_BROADCAST_TLS: 'off',
            REDIS_BROADCAST_REPLICAS: '1',
            SELECTED_INTERFACES: '10,192.168.0.0/16',
            DEPLOYMENT_ENV: 'prod',
        };
        expect(config(['--interval', '3'], env)).toMatchObject({
            'recipe': 'unicast',
            'to': '10.0.0.1:63001,workers.local:7,[fd00::1]:63001',
            'redis': 'cache.example.com:6390',
            'user': 'me',
            'password': '***',
            'name': 'orders',
            'interval': '3s',
            'redis-timeout': '6s',
            'tls': expect.stringContaining('to cache.example.com, trusting /etc/ssl'),
            'announce-tls': 'no',
            'replicas': 'yes',
            'advertise': 'cache.example.com',
            'advertised port': '6390',
            'interfaces': '10,192.168.0.0/16',
        });
        expect(config(['kubernetes'], env).to).toBe('pods (all) of namespace prod, port 63001; '
            + 'API of this pod, refresh 5s, timeout 5s, last pods kept for ever');
    });

    it.each([
        ['fd00::1', { 'advertise': 'fd00::1', 'advertised port': '6379' }],
        ['[fd00::1]:7', { 'advertise': 'fd00::1', 'advertised port': '7' }],
        ['redis.local:7', { 'advertise': 'redis.local', 'advertised port': '7' }],
        [':7', { 'advertised port': '7' }],
    ])('should take the address to advertise: %s', (address, expected) => {
        expect(config(['broadcast', '--advertise', address])).toMatchObject(expected);
    });

    it('should count as not given when they are empty', () => {
        expect(config(['broadcast'], { REDIS_BROADCAST_INTERVAL: '', IMQ_ANNOUNCER_REDIS: '' }))
            .toMatchObject({ interval: '1s', redis: '127.0.0.1:6379' });
    });

    it.each([
        [[], {}, /the recipe: expected broadcast, kubernetes or unicast/],
        [['multicast'], {}, /the recipe="multicast": expected broadcast/],
        [['broadcast', '--interval', '0'], {}, /--interval="0": expected seconds, from 0\.1/],
        [['broadcast', '--interval', 'NaN'], {}, /--interval="NaN": expected seconds/],
        [['broadcast', '--interval', '1e99'], {}, /--interval="1e99": expected seconds/],
        [
            ['broadcast'], { REDIS_BROADCAST_INTERVAL: 'often' },
            /REDIS_BROADCAST_INTERVAL="often": expected seconds/,
        ],
        [['broadcast', '--port', '65536'], {}, /--port="65536": expected a port/],
        [['broadcast'], { REDIS_BROADCAST_TLS: 'maybe' }, /REDIS_BROADCAST_TLS="maybe": expected yes/],
        [['broadcast'], { REDIS_BROADCAST_NAME: 'a\tb' }, /REDIS_BROADCAST_NAME="a\\tb": /],
        [['broadcast'], { SELECTED_INTERFACES: 'eth0' }, /SELECTED_INTERFACES="eth0": expected the/],
        [['broadcast', '--health-port', 'x'], {}, /--health-port="x": expected a port .*address:port/],
        [['broadcast', '--to', '10.0.0.1'], {}, /--to="10\.0\.0\.1": it belongs to the recipe unicast/],
        [['unicast'], {}, /--to: unicast needs the hosts to tell/],
        [['unicast', '--to', ','], {}, /--to=",": expected hosts/],
        [['unicast', '--to', '10.0.0.256'], {}, /--to="10\.0\.0\.256": .*names no host/],
        [['kubernetes', '--namespace', '../x'], {}, /--namespace="\.\.\/x": .*names no namespace/],
        [['kubernetes', '--api-server', 'x'], {}, /--api-server="x": .*is no URL of an API server/],
        [['kubernetes', '--api-ca', '/x'], {}, /--api-ca="\/x": it needs --api-server/],
        [['broadcast', '--redis', '/run/redis.sock'], {}, /--advertise: .*Unix socket.*--advertise :6379/],
        [['broadcast', '--advertise', '0.0.0.0'], {}, /--advertise="0\.0\.0\.0": /],
        [['broadcast', '--tls-ca', '/x'], {}, /--tls-ca="\/x": it needs --tls/],
        [['broadcast', '--tls', '--tls-ca', '/nowhere'], {}, /TLS: \/nowhere: /],
        [['broadcast', '--tls', '--tls-cert', '/x'], {}, /--tls-cert="\/x": it needs --tls-key/],
        [['broadcast', '--user', 'x'], {}, /--user="x": a user needs a password/],
        [['broadcast', '--password-file', '/nowhere'], {}, /--password-file="\/nowhere": No such file/],
        [['broadcast', '--intervall', '1'], {}, /--intervall.*\n.*\n.*--interval/],
    ])('should be refused by name and value: %j %j', (args, env, message) => {
        const { status, stderr } = run(args, env);
        expect(status).toBe(2);
        expect(stderr).toMatch(message);
    });

    it('should be refused when they are only to be shown', () => {
        const { status, stderr } = run(['kubernetes', '--print-config'], { DEPLOYMENT_ENV: 'a b' });
        expect(status).toBe(2);
        expect(stderr).toMatch(/DEPLOYMENT_ENV="a b": .*names no namespace/);
    });

    it('should show no password when they are refused', () => {
        for (const redis of ['redis://:hunter2@host:99999', 'http://me:hunter2@x']) {
            const { status, stderr } = run(['broadcast'], { IMQ_ANNOUNCER_REDIS: redis });
            expect(status).toBe(2);
            expect(stderr).toMatch(/error: IMQ_ANNOUNCER_REDIS: /);
            expect(stderr).not.toContain('hunter2');
        }
    });
});

describe('loopback', () => {
    it('should never be announced by accident', async () => {
        const sidecar = await Sidecar.start(['unicast', '--to', '127.0.0.1:9']);
        try {
            await sidecar.logged(
                /error: .*not announced: the destinations are on this host alone.*--advertise/,
            );
        } finally {
            await sidecar.close();
        }
    });
});
