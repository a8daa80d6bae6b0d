'use strict';

const { connect } = require('node:net');

const { Sidecar } = require('../helpers/sidecar.js');
const { HERE, createScene } = require('../helpers/sidecar-scene.js');

/**
 * More than the 64 that there may be at a time. Fewer than the 128 that the system lets wait until
 * the sidecar gets to them: it would forget whoever comes next, who tries again a second later.
 */
const DAWDLERS = 100;

describe('what a sidecar answers', () => {
    const scene = createScene();

    it('should tell that it lives, whether it announces, and how much', async () => {
        const { redis, sidecar } = await scene.announced(['--interval', '0.1']);

        expect(await sidecar.ask('/healthz')).toEqual({ status: 200, body: 'alive\n' });
        expect(await sidecar.ask('/readyz')).toEqual({
            status: 200, body: `announcing ${redis.address}\n`,
        });
        const sent = 'announcements_sent_total{destination="unicast"}';
        const before = await sidecar.metric(sent);
        expect(before).toBeGreaterThan(0);
        expect(await sidecar.metric('announcing')).toBe(1);
        expect(await sidecar.metric('announcements_sent_total{destination="broadcast"}')).toBe(0);
        expect(await sidecar.metric('info{version="0.1.0",recipe="unicast"}')).toBe(1);

        redis.signal('SIGKILL');
        const down = await scene.ear.down();
        expect(await sidecar.ask('/healthz')).toMatchObject({ status: 200 });
        expect(await sidecar.ask('/readyz')).toMatchObject({ status: 503 });
        expect(await sidecar.metric('announcing')).toBe(0);

        // Counters go on with the next run of the Redis.
        await redis.ended;
        await scene.redis({ port: redis.port });
        await scene.ear.up({}, down.at);
        expect(await sidecar.metric(sent)).toBeGreaterThan(before + 3);
    });

    it('should count what could not be sent', async () => {
        const redis = await scene.redis();
        const unknown = ['unicast', '--to', `nowhere.invalid,${HERE}:${scene.port}`];
        const sidecar = await scene.sidecar(redis, ['--interval', '0.1'], {}, unknown);
        await sidecar.logged(/warn: announcing to nowhere\.invalid:63000 failed/);
        const failures = 'announcements_send_failures_total{destination="unicast"}';
        expect(await sidecar.metric(failures)).toBeGreaterThan(0);
        await scene.ear.up();
    });

    it('should be asked on the paths that there are, by GET', async () => {
        const sidecar = await scene.sidecar('127.0.0.1:1');
        expect(await sidecar.ask('/')).toMatchObject({ status: 404 });
        expect(await sidecar.ask('/metrics/x')).toMatchObject({ status: 404 });
        const [answer] = await raw(sidecar, 'POST /healthz HTTP/1.1\r\nhost: x\r\n'
            + 'content-length: 1000000\r\n\r\n');
        expect(answer).toMatch(/^HTTP\/1\.1 405 /);
    });

    it('should refuse what is no request, and what is too long', async () => {
        const sidecar = await scene.sidecar('127.0.0.1:1');
        const [garbage] = await raw(sidecar, '\0\x01\x02 garbage\r\n\r\n');
        expect(garbage).toMatch(/^(HTTP\/1\.1 400 .*|)/);
        const [long] = await raw(sidecar, `GET /healthz HTTP/1.1\r\nx: ${'y'.repeat(100_000)}`);
        expect(long).toMatch(/^(HTTP\/1\.1 4\d\d .*|)$/s);
        expect(await sidecar.ask('/healthz')).toMatchObject({ status: 200 });
    });

    it('should let nobody dawdle, and answer others meanwhile', async () => {
        const { sidecar } = await scene.announced(['--interval', '0.1']);
        const slow = Array.from({ length: DAWDLERS }, () => raw(sidecar, 'GET /healthz HTT'));
        const began = performance.now();
        expect(await sidecar.ask('/healthz')).toMatchObject({ status: 200 });
        expect(performance.now() - began).toBeLessThan(1000);
        const ends = await Promise.all(slow);
        ends.forEach(([, after]) => expect(after).toBeLessThan(7000));
    });

    it('should announce on while it is flooded', async () => {
        const { sidecar, up } = await scene.announced(['--interval', '0.1']);
        const slow = Array.from({ length: 300 }, () => raw(sidecar, 'GET /metrics HTTP/1.1\r\n'));
        let last = up;
        for (let round = 0; round < 10; round += 1) {
            last = await scene.ear.up({ id: up.id }, last.at, 1000);
        }
        await sidecar.close();
        await Promise.all(slow);
    });

    it('should be refused a port that somebody else has', async () => {
        const first = await scene.sidecar('127.0.0.1:1');
        const args = ['--health-port', `127.0.0.1:${first.healthPort}`];
        const second = new Sidecar(0, ['broadcast', ...args]);
        expect(await second.ended).toMatchObject({ code: 2 });
        expect(second.lines).toEqual([expect.stringMatching(
            /error: --health-port: 127\.0\.0\.1:\d+ cannot be listened on: Address already in use/,
        )]);
    });
});

/** Sends bytes, and resolves with the answer and how long it took until the end. */
async function raw({ healthPort }, bytes) {
    const socket = connect(healthPort, '127.0.0.1');
    const began = performance.now();
    let answer = '';
    socket.on('error', () => {});
    socket.setEncoding('utf8').on('data', chunk => { answer += chunk; });
    socket.write(bytes);
    await new Promise(resolve => { socket.once('close', resolve); });
    return [answer, performance.now() - began];
}
