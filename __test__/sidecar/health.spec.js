'use strict';

const { freeTcpPort } = require('../../demo/support/ports.js');
const { replicaOf } = require('../helpers/broker.js');
const { HERE, createScene } = require('../helpers/sidecar-scene.js');
const { Program, monotonicNow } = require('../helpers/program.js');
const { isAdd, isRemove, nothingFor, outcome } = require('../helpers/said.js');

/** How often it is measured that a crash is announced, and that one that hangs is taken back. */
const CRASHES = Number(process.env.IMQ_TEST_CRASHES ?? 5);
const HANGS = Number(process.env.IMQ_TEST_HANGS ?? 1);

/** The sidecar promises so much, and a busy machine takes longer. */
const DOWN_MS = 100;
const SLACK_MS = 150;

/** Where a Redis listens is looked at twice a second, and once more before it is believed. */
const FOLLOWED_MS = 1000;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('a Redis beside a sidecar', () => {
    const scene = createScene();

    it('should be announced as the module would, again and again', async () => {
        const { redis, sidecar, up } = await scene.announced(['--interval', '0.2']);

        expect(up.text).toMatch(new RegExp(
            `^imq-broker\t[^\t]+\tup\t127\\.0\\.0\\.1:${redis.port}\t0\\.2\tplain$`,
        ));
        expect(up.id).toMatch(UUID);
        const next = await scene.ear.up({ id: up.id }, up.at);
        expect(next.at - up.at).toBeGreaterThan(100);
        await sidecar.logged(new RegExp(`announced at 127\\.0\\.0\\.1:${redis.port} as ${up.id}`));
    });

    it('should be found and missed by our manager and by that of @imqueue/core', async () => {
        const options = { port: scene.port };
        const listeners = ['listen-process.js', 'core-listen-process.js']
            .map(script => Program.start(script, options));
        try {
            await Promise.all(listeners.map(it => it.line(({ event }) => event === 'listening')));
            const { redis } = await scene.announced();
            await Promise.all(listeners.map(it => it.line(isAdd)));
            const killed = redis.signal('SIGKILL');
            const removes = await Promise.all(listeners.map(it => it.line(isRemove)));
            removes.forEach(({ at }) => expect(at - killed).toBeLessThan(DOWN_MS + SLACK_MS));
            expect(listeners.map(outcome)).toEqual(Array(2).fill({ adds: 1, removes: 1 }));
        } finally {
            await Promise.all(listeners.map(it => it.kill()));
        }
    });

    it(`should be taken back at once when it crashes, ${CRASHES} times`, async () => {
        const delays = [];
        let { redis, sidecar, up } = await scene.announced(['--interval', '60']);
        const ids = new Set();
        for (let crash = 0; crash < CRASHES; crash += 1) {
            ids.add(up.id);
            const killed = redis.signal('SIGKILL');
            const down = await scene.ear.down({ id: up.id }, killed);
            delays.push(down.at - killed);
            await redis.ended;
            redis = await scene.redis({ port: redis.port });
            up = await scene.ear.up({ address: up.address }, down.at);
        }
        report('kill to down', delays);
        expect(Math.max(...delays)).toBeLessThan(DOWN_MS + SLACK_MS);
        // Each run is another broker.
        expect(ids.size).toBe(CRASHES);
        await sidecar.logged(/not announced: it cannot be reached: Connection re(fused|set)/);
    }, 10_000 + 2000 * CRASHES);

    it('should be taken back within three intervals when it hangs, and come back', async () => {
        const { redis, sidecar, up } = await scene.announced(['--interval', '0.5']);
        const { address } = up;
        const delays = [];
        const ids = new Set([up.id]);
        for (let hang = 0; hang < HANGS; hang += 1) {
            const stopped = redis.signal('SIGSTOP');
            const down = await scene.ear.down({ address }, stopped);
            delays.push(down.at - stopped);
            await sidecar.logged(/it has not answered for 1s/);
            expect((await sidecar.ask('/readyz')).status).toBe(503);

            redis.signal('SIGCONT');
            // Another broker than before, which services listen to at once.
            ids.add((await scene.ear.up({ address }, down.at)).id);
        }
        expect(ids.size).toBe(HANGS + 1);
        report('hang to down', delays);
        expect(Math.min(...delays)).toBeGreaterThan(500);
        expect(Math.max(...delays)).toBeLessThan(1500 + SLACK_MS);
    }, 10_000 + 4000 * HANGS);

    it('should not be announced any more once it is taken back', async () => {
        const { redis, up } = await scene.announced(['--interval', '0.1']);
        redis.signal('SIGKILL');
        const down = await scene.ear.down({ id: up.id });
        await nothingFor(500);
        const later = scene.ear.heard.filter(({ at, type }) => at > down.at && type === 'up');
        expect(later).toEqual([]);
    });

    it('should be announced through a script that keeps it busy for a moment', async () => {
        const { redis, up } = await scene.announced(['--interval', '0.5'], {
            config: ['--lua-time-limit', '100', '--busy-reply-threshold', '100'],
        });
        const began = await redis.send('EVAL', 'local t = redis.call("TIME")[1] + 1'
            + ' while tonumber(redis.call("TIME")[1]) < t do end', '0');
        await scene.ear.up({ id: up.id }, began + 1200);
        expect(scene.ear.heard.some(({ type }) => type === 'down')).toBe(false);
    });

    it('should stay announced when only its connection is closed', async () => {
        const { redis, sidecar, up } = await scene.announced(['--interval', '0.2']);
        for (let time = 0; time < 5; time += 1) {
            await redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
            await nothingFor(60);
        }
        await scene.ear.up({ id: up.id }, monotonicNow());
        expect(scene.ear.heard.some(({ type }) => type === 'down')).toBe(false);
        expect(await sidecar.metric('redis_state{state="ready"}')).toBe(1);
    });

    it('should be waited for', async () => {
        const redis = await scene.redis();
        redis.signal('SIGKILL');
        await redis.ended;
        const sidecar = await scene.sidecar(redis);
        await sidecar.logged(/Connection refused/);
        const again = await scene.redis({ port: redis.port });
        await scene.ear.up({ address: again.address });
    });

    it('should not be announced while it loads', async () => {
        const redis = await scene.redis({ allowed: true });
        await redis.call('DEBUG', 'POPULATE', '300', 'key', '100');
        await redis.call('SAVE');
        redis.signal('SIGKILL');
        await redis.ended;
        // Three seconds for 300 keys.
        const slow = await scene.redis({
            port: redis.port,
            config: ['--dir', redis.dir, '--key-load-delay', '10000', '--loading-process-events-interval-bytes', '1024'],
            wait: false,
        });
        const sidecar = await scene.sidecar(redis);
        await sidecar.logged(/it is loading its data/);
        expect(await sidecar.metric('redis_state{state="loading"}')).toBe(1);
        const ready = await slow.logged('Ready to accept connections');
        const up = await scene.ear.up();
        expect(up.at).toBeGreaterThan(ready.at - 10);
    });

    it('should not be announced as a replica, and follow a failover', async () => {
        const { redis: master, up } = await scene.announced(['--interval', '0.2']);
        const replica = await scene.redis({ config: replicaOf(master) });
        const sidecar = await scene.sidecar(replica, ['--interval', '0.2']);
        await sidecar.logged(/it is a replica/);
        expect(await sidecar.ask('/readyz')).toEqual({
            status: 503,
            body: expect.stringMatching(/^not announcing: it is a replica/),
        });

        await replica.call('REPLICAOF', 'NO', 'ONE');
        const promoted = await scene.ear.up({ address: replica.address });
        await master.call('REPLICAOF', '127.0.0.1', String(replica.port));
        await scene.ear.down({ id: up.id });
        const other = scene.ear.heard.filter(({ address }) => address === promoted.address);
        expect(other[0].at).toBe(promoted.at);
    });

    it('should have each change in the log', async () => {
        const { redis, sidecar, up } = await scene.announced(['--interval', '0.2']);
        let last = up;
        for (let time = 0; time < 3; time += 1) {
            await redis.call('REPLICAOF', '127.0.0.1', '1');
            const down = await scene.ear.down({ id: last.id });
            await redis.call('REPLICAOF', 'NO', 'ONE');
            last = await scene.ear.up({ address: up.address }, down.at);
            await sidecar.logged(new RegExp(`announced at .* as ${last.id}`));
        }
        const lines = sidecar.lines.map(line => /not announced|announced|started/.exec(line)[0]);
        const change = ['not announced', 'announced'];
        expect(lines).toEqual(['started', 'announced', ...change, ...change, ...change]);
    });

    it('should be taken back when it is told to listen on another port, and come back', async () => {
        const { redis, sidecar, up } = await scene.announced(['--interval', '0.5']);
        const other = await freeTcpPort();
        const moved = monotonicNow();
        await redis.call('CONFIG', 'SET', 'port', String(other));
        const down = await scene.ear.down({ id: up.id }, moved);
        expect(down.at - moved).toBeLessThan(FOLLOWED_MS);
        expect(await sidecar.logged(/nothing listens at/)).toMatch(
            new RegExp(`^imq-announcer: error: .*not announced: nothing listens at ${up.address},`
                + '.*bind and port.*--advertise'),
        );
        expect(await sidecar.ask('/readyz')).toEqual({
            status: 503,
            body: expect.stringMatching(/^not announcing: nothing listens at 127\.0\.0\.1:\d+,/),
        });
        expect(await sidecar.metric('announcing')).toBe(0);

        await redis.call('CONFIG', 'SET', 'port', String(redis.port));
        const again = await scene.ear.up({ address: up.address }, down.at);
        expect(again.id).not.toBe(up.id);
        expect(sidecar.lines.filter(line => /nothing listens/.test(line)).length).toBe(1);
    });

    it('should not be announced where it does not listen', async () => {
        const redis = await scene.redis();
        const port = await freeTcpPort();
        const sidecar = await scene.sidecar(redis, ['--advertise', `127.0.0.1:${port}`]);
        await sidecar.logged(/error: .*not announced: nothing listens at/);
        await nothingFor(500);
        expect(scene.ear.heard).toEqual([]);
    });

    it('should be announced as told at an address that is not of this host', async () => {
        const redis = await scene.redis();
        const sidecar = await scene.sidecar(redis, ['--advertise', '192.0.2.1:1']);
        await scene.ear.up({ address: '192.0.2.1:1' });
        expect(sidecar.lines.filter(line => /warn|error/.test(line))).toEqual([]);
    });

    it('should be announced as a replica where that is allowed', async () => {
        const master = await scene.redis();
        await scene.announced(['--replicas'], { config: replicaOf(master) });
    });

    it('should be taken back by a sidecar that is asked to end', async () => {
        for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT']) {
            const { sidecar, up } = await scene.announced(['--interval', '60']);
            const asked = sidecar.signal(signal);
            const down = await scene.ear.down({ id: up.id });
            const ended = await sidecar.ended;
            expect(ended).toMatchObject({ code: 0, signal: null });
            expect(down.at - asked).toBeLessThan(50 + SLACK_MS);
            expect(ended.at - asked).toBeLessThan(300 + SLACK_MS);
            expect(sidecar.lines.at(-1)).toMatch(/ended by a signal/);
        }
    });

    it('should stay announced when the terminal of a sidecar under nohup is closed', async () => {
        const redis = await scene.redis();
        const args = ['--interval', '0.2'];
        const sidecar = await scene.sidecar(redis, args, { within: ['nohup'] });
        const up = await scene.ear.up();
        const asked = sidecar.signal('SIGHUP');
        await scene.ear.up({ id: up.id }, asked + 500);
    });

    it('should tell services what the environment says', async () => {
        const redis = await scene.redis();
        await scene.sidecar(redis, [], {
            env: {
                REDIS_BROADCAST_NAME: 'orders',
                REDIS_BROADCAST_INTERVAL: '3',
                REDIS_BROADCAST_TLS: 'yes',
            },
        });
        const up = await scene.ear.up();
        expect(up).toMatchObject({ name: 'orders', interval: '3', transport: 'tls' });
    });

    it('should be broadcast to this host alone where loopback is selected', async () => {
        const redis = await scene.redis();
        const env = { REDIS_BROADCAST_PORT: String(scene.port), SELECTED_INTERFACES: '127' };
        const sidecar = await scene.sidecar(redis, ['--advertise', `:${redis.port}`], { env }, [
            'broadcast',
        ]);
        const where = { address: redis.address, source: '127.0.0.1' };
        const { at } = await scene.ear.up(where);
        // One is counted once it was sent, which is before the next.
        await scene.ear.up(where, at);
        const sent = 'announcements_sent_total{destination="broadcast"}';
        expect(await sidecar.metric(sent)).toBeGreaterThan(0);
    });

    it('should be told to hosts on the common port', async () => {
        const redis = await scene.redis();
        const env = { REDIS_BROADCAST_PORT: String(scene.port), IMQ_ANNOUNCER_TO: HERE };
        await scene.sidecar(redis, [], { env }, ['unicast']);
        await scene.ear.up();
    });
});

/** Shows what was measured by hand. */
function report(what, delays) {
    if (delays.length > 10) {
        const sorted = delays.map(ms => ms.toFixed(1)).sort((a, b) => a - b);
        process.stdout.write(`${what}, ms: ${sorted.join(' ')}\n`);
    }
}
