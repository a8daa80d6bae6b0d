'use strict';

// The manager of `@imqueue/core` in a process of its own, with a stand-in cluster: prints what
// listen-process.js does, and ends when its standard input does.

const { readFileSync, readdirSync, readlinkSync } = require('node:fs');
const { UDPClusterManager } = require('@imqueue/core');

const { answerQuestions, print } = require('./talk.js');

const servers = new Map();
const options = { port: 63000, ...JSON.parse(process.argv[2]) };
const manager = new UDPClusterManager(options);

manager.init({
    add(server) {
        servers.set(server.id, server);
        print('add', { id: server.id });
        return server;
    },
    remove({ id }) {
        // It also removes brokers that it never added.
        if (servers.delete(id)) {
            print('remove', { id });
        }
    },
    find: ({ id }) => servers.get(id),
});

// It does not tell when it listens, but the system does.
const look = setInterval(() => {
    if (listens(options.port)) {
        clearInterval(look);
        print('listening', { node: process.version });
    }
}, 20);

answerQuestions({
    servers: () => ({ servers: [...servers.values()] }),
}).then(async () => {
    await manager.destroy();
    process.exit();
});

/** Whether this process has a UDP socket bound to that port. */
function listens(port) {
    const own = new Set(readdirSync('/proc/self/fd').map(link));
    const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
    const sockets = readFileSync('/proc/self/net/udp', 'utf8').trim().split('\n').slice(1);
    return sockets
        .map(line => line.trim().split(/\s+/))
        .some(fields => fields[1].endsWith(suffix) && own.has(`socket:[${fields[9]}]`));
}

function link(descriptor) {
    try {
        return readlinkSync(`/proc/self/fd/${descriptor}`);
    } catch {
        // It has been closed meanwhile.
        return '';
    }
}
