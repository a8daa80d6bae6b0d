'use strict';

const dgram = require('node:dgram');
const { once } = require('node:events');

/**
 * Below what systems give to sockets that ask for any port: otherwise one of these could take a
 * port before its manager binds it, and the original dies of that. Other tests that choose for
 * themselves are further up.
 */
const RANGE = { first: 10_000, count: 9000 };

/** Other runs on this machine begin elsewhere. */
let next = (process.pid * 97) % RANGE.count;

/** A UDP port that nobody listens to, and that this process has not chosen lately. */
async function choosePort() {
    const port = RANGE.first + next;
    next = (next + 1) % RANGE.count;

    return await isFree(port) ? port : choosePort();
}

async function isFree(port) {
    const socket = dgram.createSocket('udp4').bind(port);
    try {
        await once(socket, 'listening');
        return true;
    } catch {
        return false;
    } finally {
        socket.close();
    }
}

exports.choosePort = choosePort;
