'use strict';

const dgram = require('node:dgram');
const { once } = require('node:events');

const { RustUDPClusterManager } = require('../index.js');
const { until } = require('./helpers/fleet.js');
const { createLogger } = require('./helpers/harness.js');
const { Sender, freePort } = require('./helpers/udp.js');

describe('a port that is taken', () => {
    let port;
    let manager;
    let socket;

    beforeEach(async () => {
        port = await freePort();
    });

    afterEach(async () => {
        await manager.destroy();
        socket?.close();
        socket = undefined;
    });

    it('should be logged with its cause, and taken when it becomes free', async () => {
        socket = dgram.createSocket('udp4').bind(port);
        await once(socket, 'listening');

        const logger = createLogger();
        const told = new Promise(resolve => logger.error.mockImplementationOnce(resolve));
        manager = new RustUDPClusterManager({ port, logger });
        expect(await told).toMatch(new RegExp(`cannot listen on UDP port ${port}.*holds it`));
        expect(manager.listening).toBe(false);

        const listening = until(manager, 'listening');
        socket.close();
        socket = undefined;
        await listening;
        expect(manager.listening).toBe(true);
    }, 20_000);

    it('should be shared with a program that shares it, in either order', async () => {
        socket = dgram.createSocket({ type: 'udp4', reuseAddr: true }).bind(port);
        await once(socket, 'listening');
        manager = new RustUDPClusterManager({ port, logger: createLogger() });
        await until(manager, 'listening');
        const late = dgram.createSocket({ type: 'udp4', reuseAddr: true }).bind(port);
        await once(late, 'listening');

        const heard = [once(socket, 'message'), until(manager, 'add'), once(late, 'message')];
        const sender = new Sender(port);
        await sender.send('imq-broker\tid-1\tup\t10.0.0.1:6379\t1', '127.255.255.255');

        await Promise.all(heard);
        sender.close();
        late.close();
    });
});
