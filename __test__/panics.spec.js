'use strict';

const { readFileSync } = require('node:fs');
const { join } = require('node:path');

const binding = require('../binding.js');
const { builtBinding } = require('./helpers/built.js');
const { buildFaults } = require('./helpers/faults.js');
const { collect, until } = require('./helpers/fleet.js');
const { createFacade } = require('../lib/facade.js');
const { createLogger } = require('./helpers/harness.js');
const { Receiver, Sender, freePort } = require('./helpers/udp.js');
const { ROOT } = require('./helpers/run-node.js');

// What panics here says so on standard error as well, as Rust does by itself.
let faultsPath;
let faulty;

beforeAll(() => {
    faultsPath = buildFaults();
    faulty = require(faultsPath);
}, 300_000);

describe('a panic of the hub thread', () => {
    let logger;
    let manager;
    let port;
    let sender;

    beforeEach(async () => {
        port = await freePort();
        logger = createLogger();
        sender = new Sender(port);
        manager = createManager();
        await until(manager, 'listening');
    });

    afterEach(async () => {
        sender.close();
        await manager.destroy();
    });

    function createManager(options) {
        const { RustUDPClusterManager } = createFacade(() => faulty);
        return new RustUDPClusterManager({ port, logger, aliveTimeoutCorrection: 1500, ...options });
    }

    async function hear(broker) {
        const added = until(manager, 'add', ({ id }) => id === broker.id);
        await sender.up(broker);
        await added;
    }

    /** Resolves with what it was told about it, once it has been. */
    function reported() {
        return new Promise(resolve => logger.error.mockImplementationOnce(resolve));
    }

    it('should be logged once, and cost neither a broker nor what is known of it', async () => {
        const known = [1, 2, 3].map(number => ({ id: `id-${number}`, host: `10.0.0.${number}` }));
        for (const broker of known) {
            await hear({ ...broker, interval: 60 });
        }
        const before = manager.servers;
        const events = collect(manager);

        const report = reported();
        faulty.panicInHub('on purpose');
        expect(await report).toMatch(/panicked.*restarted.*report.*on purpose/);
        await hear({ id: 'id-4', host: '10.0.0.4' });

        expect(events.map(([event, { id }]) => [event, id])).toEqual([['add', 'id-4']]);
        expect(manager.servers).toEqual(expect.arrayContaining(before));
        expect(manager.stats().ups).toBe(4);
        expect(logger.error).toHaveBeenCalledTimes(1);
    });

    it('should let heartbeats count, and deadlines too', async () => {
        const steady = { id: 'steady', host: '10.0.0.1', interval: 0.5 };
        await hear(steady);
        const heart = setInterval(() => sender.up(steady), 50);
        const removed = until(manager, 'remove');

        faulty.panicInHub('on purpose');
        // Whoever was not heard of after the panic goes before this one.
        await hear({ id: 'silent', host: '10.0.0.2', interval: 0.5 });
        const [{ id }] = await removed;
        clearInterval(heart);

        expect(id).toBe('silent');
        expect(manager.servers.map(({ guid }) => guid)).toEqual(['steady']);
    });

    it('should be survived time after time, and logged once a minute', async () => {
        for (const number of [1, 2, 3, 4]) {
            faulty.panicInHub(`panic ${number}`);
            await hear({ id: `id-${number}`, host: `10.0.0.${number}`, interval: 60 });
        }

        expect(manager.servers).toHaveLength(4);
        expect(logger.error).toHaveBeenCalledTimes(1);
    });

    it('should not stop announcers', async () => {
        const receiver = await new Receiver().bind();
        const announcer = new (createFacade(() => faulty).Announcer)({
            host: '10.0.0.1',
            port: 6379,
            destinations: [`127.0.0.1:${receiver.port}`],
            logger,
        });
        await announcer.start();

        faulty.panicInHub('on purpose');
        await receiver.received(3);
        await announcer.stop();
        const messages = await receiver.received(4);

        const types = messages.map(message => message.split('\t')[2]);
        expect(types.slice(0, 3)).toEqual(['up', 'up', 'up']);
        expect(types.at(-1)).toBe('down');
        receiver.close();
    });

    it('should not keep anybody from ending and beginning anew', async () => {
        faulty.panicInHub('on purpose');
        await manager.destroy();

        manager = createManager();
        await until(manager, 'listening');
        await hear({ id: 'id-1' });
    });
});

describe('a panic of a function', () => {
    it('should become an error', () => {
        expect(() => faulty.panicInCall('on purpose')).toThrow('on purpose');
    });

    it('should become an error of a constructor, after which others work', async () => {
        const wake = jest.fn();
        const environment = new binding.Environment(wake);
        // The facade lets none of these through.
        const listen = correction => new binding.Listener(
            environment, 63_000, '0.0.0.0', false, correction, 1, [],
        );
        const announce = interval => new binding.Announcer(
            environment, '10.0.0.1', 6379, 'name', 'id', interval, null, ['127.0.0.1:1'],
        );
        expect(() => listen(-1)).toThrow('value is negative');
        expect(() => announce(NaN)).toThrow(/either too big or NaN/);

        const woken = new Promise(resolve => wake.mockImplementation(resolve));
        const announcer = announce(1000);
        await woken;
        announcer.close();
        environment.close();
    });

    it('should be caught wherever JavaScript calls', () => {
        const attributes = ['announcer', 'environment', 'listener'].flatMap(file => {
            const source = readFileSync(join(ROOT, 'src', `${file}.rs`), 'utf8');
            return [...source.matchAll(/#\[napi(\([^\]]*\))?\]\s+pub fn (\w+)/g)];
        });

        expect(attributes.length).toBeGreaterThan(10);
        expect(attributes.filter(([, how]) => !how?.includes('catch_unwind'))).toEqual([]);
    });
});

describe('the binding that is published', () => {
    const HOOKS = ['panicInHub', 'panicInCall'];

    it('should have no such functions', () => {
        const functions = Object.keys(binding).filter(name => !name.startsWith('__'));
        expect(functions.sort()).toEqual(['Announcer', 'Environment', 'Listener']);
        expect(Object.keys(faulty)).toEqual(expect.arrayContaining([...functions, ...HOOKS]));
    });

    it('should have nothing of them in its file', () => {
        const [ours, theirs] = [builtBinding(), faultsPath].map(path => readFileSync(path, 'latin1'));
        expect(HOOKS.map(name => theirs.includes(name))).toEqual([true, true]);
        expect(HOOKS.map(name => ours.includes(name))).toEqual([false, false]);
    });
});
