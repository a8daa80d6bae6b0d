'use strict';

const { mkdirSync } = require('node:fs');
const { join } = require('node:path');

const { freeTcpPort } = require('../../demo/support/ports.js');
const { Broker, modulePath } = require('../helpers/broker.js');
const { Ear } = require('../helpers/ear.js');
const { monotonicNow } = require('../helpers/program.js');
const { describeModules } = require('../helpers/servers.js');
const { SlowDisk } = require('../helpers/slow-disk.js');
const { freePort } = require('../helpers/udp.js');

/** On a quiet machine it is 11 ms. */
const AT_ONCE_MS = 90;

/** It writes to it now and then, and always before it ends. */
const SLOW_MS = 400;
const APPENDS = ['--appendonly', 'yes', '--appendfsync', 'no'];

// Upon the command SHUTDOWN, Redis tells modules only once all has been written. Version 6.2 does not
// say when a command is over, and is not looked at.
describeModules('a Redis with an append-only file on a slow disk', () => {
    let broker;
    let disk;
    let ear;
    let env;

    beforeAll(() => {
        disk = new SlowDisk(SLOW_MS);
    });

    afterAll(() => disk.close());

    beforeEach(async () => {
        const port = await freePort();
        ear = await Ear.open(port);
        env = {
            ...disk.env,
            REDIS_BROADCAST_INTERVAL: '0.2',
            REDIS_BROADCAST_PORT: String(port),
            SELECTED_INTERFACES: '127',
        };
    });

    afterEach(() => Promise.all([ear.close(), broker?.close()]));

    /** Resolves with its first announcement. */
    async function start(options) {
        broker = await Broker.start({ allowed: true, env, ...options });
        return ear.up();
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
            await ear.up({}, monotonicNow());
        }],
    ])('should say goodbye before it writes, where it appends %s', async (_, appends) => {
        await appends();
        const since = await broker.send('Shutdown', 'NOSAVE');

        const { at: ended, code } = await broker.ended;
        const down = await ear.down({}, since);
        expect(code).toBe(0);
        expect(down.at - since).toBeLessThan(AT_ONCE_MS);
        expect(ended - down.at).toBeGreaterThan(SLOW_MS / 2);
        const said = ear.heard.filter(({ at }) => at >= down.at).map(({ type }) => type);
        expect(said).toEqual(['down', 'down', 'down']);
    });

    it('should come back if it could not end', async () => {
        const { id } = await start({ config: [...APPENDS, '--save', '900', '1'] });
        await broker.call('SET', 'changed', '1');
        mkdirSync(join(broker.dir, 'dump.rdb'));
        const since = await broker.send('SHUTDOWN');

        const down = await ear.down({ id });
        const { at: failed } = await broker.logged("can't exit");
        expect(down.at - since).toBeLessThan(AT_ONCE_MS);
        const up = await ear.up({}, down.at);
        expect(up.id).not.toBe(id);
        expect(up.at - failed).toBeLessThan(1000);
    });

    it('should stay when it refuses to end', async () => {
        const { id } = await start({ config: APPENDS });
        await expect(broker.call('SHUTDOWN', 'SOMETIME')).rejects.toThrow('syntax error');
        await broker.call('MULTI');
        await expect(broker.call('SHUTDOWN')).rejects.toThrow('not allowed');
        await broker.call('DISCARD');
        await broker.call('ACL', 'SETUSER', 'default', '-shutdown');
        await expect(broker.call('SHUTDOWN')).rejects.toThrow('NOPERM');

        await ear.up({ id }, monotonicNow() + 500);
        expect(ear.heard.every(said => said.type === 'up' && said.id === id)).toBe(true);
    });
});
