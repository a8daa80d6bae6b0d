'use strict';

const { replicaOf } = require('../helpers/broker.js');
const { describeServers } = require('../helpers/servers.js');
const { createScene } = require('../helpers/sidecar-scene.js');

describeServers('a sidecar', server => {
    const scene = createScene();

    it('should announce it, take it back when it crashes, and announce the next run', async () => {
        const { redis, sidecar, up } = await scene.announced(['--interval', '60'], { server });
        expect(sidecar.lines.filter(line => /warn|error/.test(line))).toEqual([]);

        const killed = redis.signal('SIGKILL');
        const down = await scene.ear.down({ id: up.id });
        expect(down.at - killed).toBeLessThan(250);
        await redis.ended;
        await scene.redis({ port: redis.port, server });
        const next = await scene.ear.up({ address: up.address }, down.at);
        expect(next.id).not.toBe(up.id);
    });

    it('should take it back when it is shut down', async () => {
        const { redis, up } = await scene.announced(['--interval', '60'], { server });
        const asked = await redis.send('SHUTDOWN', 'NOSAVE');
        const down = await scene.ear.down({ id: up.id });
        expect(down.at - asked).toBeLessThan(400);
    });

    it('should follow a failover', async () => {
        const { redis: master, up } = await scene.announced(['--interval', '0.2'], { server });
        const replica = await scene.redis({ config: replicaOf(master), server });
        const sidecar = await scene.sidecar(replica, ['--interval', '0.2']);
        await sidecar.logged(/it is a replica/);
        await replica.call('REPLICAOF', 'NO', 'ONE');
        await scene.ear.up({ address: replica.address });
        await master.call('REPLICAOF', '127.0.0.1', String(replica.port));
        await scene.ear.down({ id: up.id });
    });

    it('should be content with PING, ROLE and INFO', async () => {
        const redis = await scene.redis({ server });
        await redis.call(
            'ACL', 'SETUSER', 'probe', 'on', '>secret', '-@all', '+ping', '+role', '+info',
        );
        const sidecar = await scene.sidecar(redis, ['--user', 'probe', '--password', 'secret']);
        await scene.ear.up({ address: redis.address });
        expect(sidecar.lines.filter(line => /warn|error/.test(line))).toEqual([]);
    });
});
