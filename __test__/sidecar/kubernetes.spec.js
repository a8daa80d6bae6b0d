'use strict';

const { join } = require('node:path');

const { KubernetesApi } = require('../helpers/kubernetes-api.js');
const { monotonicNow } = require('../helpers/program.js');
const { createScene } = require('../helpers/sidecar-scene.js');
const { noNamespaces, unless } = require('../helpers/unless.js');

/** How often it is measured that a new pod is told. */
const PODS = Number(process.env.IMQ_TEST_NEW_PODS ?? 5);

const TOLD_MS = 200;
const SLACK_MS = 150;

describe('a sidecar in a Kubernetes cluster', () => {
    const scene = createScene();
    let api;

    beforeEach(async () => {
        api = await KubernetesApi.start();
    });

    afterEach(() => api.close());

    /** A Redis with a sidecar that tells the pods; the pods are this host by another address. */
    async function start(args = []) {
        const redis = await scene.redis();
        const sidecar = await scene.sidecar(redis, args, {
            env: {
                DEPLOYMENT_ENV: 'prod',
                IMQ_ANNOUNCER_API_CA: join(api.files, 'ca.crt'),
                IMQ_ANNOUNCER_API_SERVER: api.url,
                IMQ_ANNOUNCER_API_TOKEN_FILE: join(api.files, 'token'),
                REDIS_BROADCAST_PORT: String(scene.port),
            },
        }, ['kubernetes']);
        return { redis, sidecar };
    }

    it('should tell its pods, and take the Redis back when it crashes', async () => {
        api.setPod('web-1', { ip: '127.0.0.2' });
        const { redis, sidecar } = await start(['--interval', '0.2']);
        const up = await scene.ear.up({ address: redis.address });
        await scene.ear.up({ id: up.id }, up.at);
        expect(await sidecar.metric('pods')).toBe(1);
        expect(await sidecar.metric('pods_age_seconds')).toBeLessThan(30);

        redis.signal('SIGKILL');
        await scene.ear.down({ id: up.id });
    });

    it(`should tell a new pod at once, ${PODS} times`, async () => {
        api.setPod('web-0', { ip: '127.0.0.2' });
        await start(['--interval', '60']);
        await scene.ear.up();
        const delays = [];
        for (let number = 1; number <= PODS; number += 1) {
            const added = monotonicNow();
            api.setPod(`web-${number}`, { ip: `127.0.1.${number}` });
            const up = await scene.ear.up({}, added);
            delays.push(up.at - added);
        }
        delays.sort((a, b) => a - b);
        if (PODS > 10) {
            process.stdout.write(`new pod to up, ms: ${delays.map(ms => ms.toFixed(1)).join(' ')}\n`);
        }
        expect(delays.at(-1)).toBeLessThan(TOLD_MS + SLACK_MS);
    }, 10_000 + 1000 * PODS);

    it('should be ready once the API has told the pods', async () => {
        api.setPod('web-1', { ip: '127.0.0.2' });
        api.fail('all', { code: 500 });
        const { sidecar } = await start();
        await sidecar.logged(/info: .* announced at/);
        expect(await sidecar.ask('/readyz')).toEqual({
            status: 503, body: 'not announcing: the Kubernetes API has not told any pods yet\n',
        });
        expect(await sidecar.metric('pods_age_seconds')).toBe(undefined);

        api.restore();
        await scene.ear.up();
        expect(await sidecar.ask('/readyz')).toMatchObject({ status: 200 });
    });

    it('should wait for a pod to know its own address, and call that no error', async () => {
        const { sidecar } = await start(['--advertise', ':6379']);
        await sidecar.logged(/info: .*not announced: it waits for the pods: none is known yet/);
        expect(await sidecar.ask('/readyz')).toMatchObject({ status: 503 });
        expect(sidecar.lines.filter(line => /warn|error/.test(line))).toEqual([]);
    });

    it('should tell the last pods on while the API fails', async () => {
        api.setPod('web-1', { ip: '127.0.0.2' });
        const { sidecar } = await start(['--interval', '0.2', '--pods-timeout', '1']);
        const up = await scene.ear.up();
        api.fail('all', { code: 500 });
        api.cut();
        await sidecar.logged(/(warn|error): .*500/);
        await scene.ear.up({ id: up.id }, monotonicNow());
        expect(await sidecar.metric('pods')).toBe(1);
    });

    it('should name the permission that is missing', async () => {
        api.forbid('all');
        const { sidecar } = await start();
        await sidecar.logged(/error: .*system:serviceaccount:prod:redis.*list.*pods.*prod/);
    });

    // A pod's files stand at fixed places.
    unless(noNamespaces('mount'), it)('should find the API as every pod does', async () => {
        api.setPod('web-1', { ip: '127.0.0.2' });
        const redis = await scene.redis();
        await scene.sidecar(redis, [], {
            env: { ...api.env, REDIS_BROADCAST_PORT: String(scene.port) },
            within: api.inPod([]),
        }, ['kubernetes']);
        await scene.ear.up();
    });
});
