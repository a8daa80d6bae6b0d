'use strict';

const { createServer } = require('node:net');
const { createSocket } = require('node:dgram');
const { once } = require('node:events');

/** A TCP port on the loopback interface that nobody uses at the moment. */
function freeTcpPort() {
    return portOf(createServer().listen(0, '127.0.0.1'));
}

/** A UDP port that nobody on this machine uses at the moment. */
function freeUdpPort() {
    return portOf(createSocket('udp4').bind(0));
}

async function portOf(listener) {
    await once(listener, 'listening');
    const { port } = listener.address();

    listener.close();
    await once(listener, 'close');
    return port;
}

module.exports = { freeTcpPort, freeUdpPort };
