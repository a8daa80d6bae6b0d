'use strict';

const { mkdirSync } = require('node:fs');
const { connect } = require('node:net');
const { join } = require('node:path');

const { freeTcpPort } = require('../../demo/support/ports.js');
const { modulePath } = require('../helpers/broker.js');
const { AT_ONCE_MS, createScene } = require('../helpers/broker-scene.js');
const { monotonicNow } = require('../helpers/program.js');
const { nothingFor } = require('../helpers/said.js');
const { describeModules } = require('../helpers/servers.js');
const { SlowDisk } = require('../helpers/slow-disk.js');

/** It writes to it now and then, and always before it ends. */
const SLOW_MS = 400;
const APPENDS = ['--appendonly', 'yes', '--appendfsync', 'no'];

// Upon the command SHUTDOWN, Redis tells modules only once all has been written. Version 6.2 does not
// say when a command is over, and is not looked at.
describeModules('a Redis with an append-only file on a slow disk', () => {
    const scene = createScene({ allowed: true, env: { REDIS_BROADCAST_INTERVAL: '0.2' } });
    let broker;
    let disk;

    beforeAll(() => {
        disk = new SlowDisk(SLOW_MS);
    });

    afterAll(() => disk.close());

    /** Resolves with its first announcement. */
    async function start(options) {
        broker = await scene.redis({ env: disk.env, ...options });
        return scene.ear.up();
    }

    it.each([
        ['from the start', async () => {
            await start({ config: APPENDS });
        }],
        ['since it was told to', async () => {
            await start();
            await broker.call('CONFIG', 'SET', 'appendonly', 'yes');
            await broker.logged('Background AOF rewrite finished successfully');
        }],
        ['and does not say so, since it has no CONFIG', async () => {
            const port = await freeTcpPort();
            await start({
                args: ['redis-port', String(port)],
                config: [...APPENDS, '--rename-command', 'CONFIG', ''],
                port,
            });
        }],
        ['and has loaded the module anew', async () => {
            await start({ config: APPENDS });
            await broker.call('MODULE', 'UNLOAD', 'promoter');
            await broker.call('MODULE', 'LOAD', modulePath('promoter.so'));
            await scene.ear.up({}, monotonicNow());
        }],
    ])('should say goodbye before it writes, where it appends %s', async (_, appends) => {
        await appends();
        const since = await broker.send('Shutdown', 'NOSAVE');

        const { at: ended, code } = await broker.ended;
        const down = await scene.ear.down({}, since);
        expect(code).toBe(0);
        expect(down.at - since).toBeLessThan(AT_ONCE_MS);
        expect(ended - down.at).toBeGreaterThan(SLOW_MS / 2);
        const said = scene.ear.heard.filter(({ at }) => at >= down.at).map(({ type }) => type);
        expect(said).toEqual(['down', 'down', 'down']);
    });

    it('should come back if it could not end', async () => {
        const { id } = await start({ config: [...APPENDS, '--save', '900', '1'] });
        await broker.call('SET', 'changed', '1');
        mkdirSync(join(broker.dir, 'dump.rdb'));
        const since = await broker.send('SHUTDOWN');

        const down = await scene.ear.down({ id });
        const { at: failed } = await broker.logged("can't exit");
        expect(down.at - since).toBeLessThan(AT_ONCE_MS);
        const up = await scene.ear.up({}, down.at);
        expect(up.id).not.toBe(id);
        expect(up.at - failed).toBeLessThan(1000);
    });

    it('should hear a signal in a flood of commands that it refuses', async () => {
        await start({ config: APPENDS });
        const client = connect(broker.port, '127.0.0.1').on('error', () => {}).resume();
        const flood = () => {
            while (client.write('SHUTDOWN SOMETIME\r\n'.repeat(1000)));
        };
        flood();
        client.on('drain', flood);
        // It has to have begun.
        await nothingFor(300);
        const since = broker.signal('SIGTERM');

        const down = await scene.ear.down({}, since);
        client.destroy();
        expect(down.at - since).toBeLessThan(AT_ONCE_MS);
    });

    it('should stay when it refuses to end', async () => {
        const { id } = await start({ config: APPENDS });
        await expect(broker.call('SHUTDOWN', 'SOMETIME')).rejects.toThrow('syntax error');
        await broker.call('MULTI');
        await expect(broker.call('SHUTDOWN')).rejects.toThrow('not allowed');
        await broker.call('DISCARD');
        await broker.call('ACL', 'SETUSER', 'default', '-shutdown');
        await expect(broker.call('SHUTDOWN')).rejects.toThrow('NOPERM');

        await scene.ear.up({ id }, monotonicNow() + 500);
        expect(scene.ear.heard.every(said => said.type === 'up' && said.id === id)).toBe(true);
    });
});
