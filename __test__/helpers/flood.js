'use strict';

const dgram = require('node:dgram');

/**
 * Announces new brokers without end, some thousand a second, so that something is on its way to
 * JavaScript at any moment. It does not keep the process up.
 */
function flood(port) {
    const socket = dgram.createSocket('udp4').bind(0).unref();
    let number = 0;

    return setInterval(() => {
        for (let count = 0; count < 20; count += 1) {
            number += 1;
            const address = `10.${number >> 16 & 255}.${number >> 8 & 255}.${number & 255}`;
            socket.send(`imq-broker\tid-${number}\tup\t${address}:6379\t60`, port, '127.0.0.1');
        }
    }, 2).unref();
}

module.exports = { flood };
