'use strict';

const { connect, createServer } = require('node:net');
const { once } = require('node:events');

const { nothingFor } = require('../helpers/said.js');
const { createScene } = require('../helpers/sidecar-scene.js');

describe('a sidecar that reaches something else than a Redis', () => {
    const scene = createScene();

    /** A server on this host; `answer` gets each connection. Resolves with its address. */
    async function serve(answer) {
        const sockets = new Set();
        const server = createServer(socket => {
            sockets.add(socket.on('error', () => {}));
            answer(socket);
        }).listen(0, '127.0.0.1');
        await once(server, 'listening');
        scene.keep({
            async close() {
                sockets.forEach(socket => socket.destroy());
                await new Promise(resolve => { server.close(resolve); });
            },
        });
        return { address: `127.0.0.1:${server.address().port}`, sockets };
    }

    it('should say so', async () => {
        const web = await serve(socket => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
        const sidecar = await scene.sidecar(web.address);
        await sidecar.logged(/it cannot be reached: what answers there is no Redis/);
    });

    it('should not be drowned by it', async () => {
        const flood = await serve(function more(socket) {
            if (socket.writable) {
                socket.write(`+${'x'.repeat(65_536)}`, () => more(socket));
            }
        });
        const sidecar = await scene.sidecar(flood.address);
        await sidecar.logged(/what answers there is no Redis/);
    });

    it('should not come back at once, again and again', async () => {
        for (const answer of [
            socket => socket.end(),
            // As of a Redis that then has no room for another client.
            socket => socket.once('data', () => socket.end('$0\r\n\r\n')),
        ]) {
            const closing = await serve(answer);
            const sidecar = await scene.sidecar(closing.address);
            await sidecar.logged(/not announced/);
            await nothingFor(1500);
            expect(closing.sockets.size).toBeLessThan(15);
            expect(sidecar.lines.length).toBeLessThan(6);
        }
    });

    it('should not reconnect without a pause to one that always closes', async () => {
        const replies = {
            INFO: '$0\r\n\r\n', PING: '+PONG\r\n', ROLE: '*1\r\n$6\r\nmaster\r\n',
        };
        const fickle = await serve(socket => {
            socket.setEncoding('utf8').on('data', command => {
                const [, name] = /\r\n(INFO|PING|ROLE)\r\n/.exec(command);
                socket.write(replies[name]);
                if (name === 'ROLE') {
                    socket.end();
                }
            });
        });
        await scene.sidecar(fickle.address);
        await scene.ear.up();
        await nothingFor(1000);
        expect(fickle.sockets.size).toBeGreaterThan(5);
        expect(fickle.sockets.size).toBeLessThan(80);
    });

    it('should notice through a proxy that the Redis is gone', async () => {
        const redis = await scene.redis();
        const proxy = await serve(socket => {
            const behind = connect(redis.port, '127.0.0.1');
            behind.on('error', () => socket.destroy()).pipe(socket).pipe(behind);
            behind.once('close', () => socket.destroy());
        });
        await scene.sidecar(proxy.address);
        const up = await scene.ear.up({ address: proxy.address });
        const killed = redis.signal('SIGKILL');
        const down = await scene.ear.down({ id: up.id });
        expect(down.at - killed).toBeLessThan(250);
    });

    it('should wait for one that does not answer at all', async () => {
        const mute = await serve(() => {});
        const sidecar = await scene.sidecar(mute.address);
        await sidecar.logged(/not announced: it cannot be reached: no answer within 5s/);
        expect(mute.sockets.size).toBe(1);
    });
});
