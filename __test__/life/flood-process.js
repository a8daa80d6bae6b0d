'use strict';

// Announces new brokers to each of the given ports, 2,000 a second, until its standard input ends.
// Then it prints how many that were and how long it took. A process of its own keeps the rate while
// the runner starts and judges others.

const dgram = require('node:dgram');

const PER_SECOND = 2000;

const ports = process.argv.slice(2).map(Number);
const socket = dgram.createSocket('udp4').bind(0);
const start = performance.now();
let sent = 0;

const timer = setInterval(() => {
    // What a late timer missed is made up for.
    const due = (performance.now() - start) / 1000 * PER_SECOND;
    for (; sent < due; sent += 1) {
        const host = `10.${sent >> 16 & 255}.${sent >> 8 & 255}.${sent & 255}`;
        const announcement = `imq-broker\tid-${sent}\tup\t${host}:6379\t60`;
        ports.forEach(port => socket.send(announcement, port, '127.0.0.1'));
    }
}, 2);

process.stdin.resume().once('end', () => {
    clearInterval(timer);
    socket.close();
    console.log(JSON.stringify({ sent, ms: performance.now() - start }));
});
