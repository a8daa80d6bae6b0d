'use strict';

const fs = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');

const { ROOT } = require('./helpers/run-node.js');
const { Sender, datagram, freePort } = require('./helpers/udp.js');
const { createLogger } = require('./helpers/harness.js');
const { onLinux } = require('./helpers/unless.js');
const { until } = require('./helpers/fleet.js');

const itOnLinux = onLinux('only Linux shows threads as files', it);

/**
 * As where two versions of the package are in one dependency tree: each has a native library, a hub
 * thread and a socket of its own.
 */
describe('two copies of the package in one process', () => {
    let folder;
    let facades;
    let port;
    let sender;
    let managers;

    beforeAll(() => {
        folder = fs.mkdtempSync(join(tmpdir(), 'imqueue-udp-copies-'));
        facades = ['first', 'second'].map(copy);
    });

    afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

    beforeEach(async () => {
        port = await freePort();
        sender = new Sender(port);
        managers = facades.map(({ RustUDPClusterManager }) => {
            return new RustUDPClusterManager({ port, logger: createLogger() });
        });
        await Promise.all(managers.map(manager => until(manager, 'listening')));
    });

    afterEach(async () => {
        sender.close();
        await Promise.all(managers.map(manager => manager.destroy()));
    });

    function copy(name) {
        const target = join(folder, name);
        const files = fs.readdirSync(ROOT).filter(file => /^(index|binding)\.js$|\.node$/.test(file));
        [...files, 'lib', 'package.json'].forEach(file => {
            fs.cpSync(join(ROOT, file), join(target, file), { recursive: true });
        });
        return require(join(target, 'index.js'));
    }

    const added = (manager, id) => until(manager, 'add', server => server.id === id);

    itOnLinux('should have a thread each', () => {
        const threads = fs.readdirSync('/proc/self/task')
            .map(id => fs.readFileSync(`/proc/self/task/${id}/comm`, 'utf8').trim());
        expect(threads.filter(name => name === 'imq-udp-hub')).toHaveLength(2);
    });

    it.each([
        ['broadcast', '127.255.255.255'],
        // The system gives it to one of the two sockets.
        ['unicast', '127.0.0.1'],
    ])('should both hear what comes by %s', async (_, address) => {
        const heard = managers.map(manager => added(manager, 'id-1'));
        await sender.send(datagram(), address);
        await Promise.all(heard);
    });

    it.each([
        ['first', 0],
        ['second', 1],
    ])('should go on hearing when the %s one ends', async (_, index) => {
        const [leaving] = managers.splice(index, 1);
        const [staying] = managers;
        let heard = [leaving, staying].map(manager => added(manager, 'id-1'));
        await sender.up();
        await Promise.all(heard);

        await leaving.destroy();
        const removed = until(staying, 'remove');
        await sender.down();
        await removed;
        heard = added(staying, 'id-2');
        await sender.up({ id: 'id-2', host: '10.0.0.2' });
        await heard;

        expect(leaving.servers).toEqual([]);
        expect(staying.servers.map(({ guid }) => guid)).toEqual(['id-2']);
    });
});
