'use strict';

// Announces several brokers by unicast, each from one port all the time, as a program does that
// keeps its socket. (Announcers of this project take a new one for each round.) Prints when it has
// begun, and says `down` and ends when its standard input does.

const dgram = require('node:dgram');

const { datagram } = require('./udp.js');
const { answerQuestions, print } = require('./talk.js');

const { brokers, destination, id, interval, port, ...broker } = JSON.parse(process.argv[2]);
const sockets = Array.from({ length: brokers }, () => dgram.createSocket('udp4'));

function announce(type) {
    return Promise.all(sockets.map((socket, number) => new Promise(resolve => {
        const content = datagram({
            ...broker,
            id: `${id}-${number}`,
            port: port + number,
            interval,
            type,
        });
        socket.send(content, 63000, destination, resolve);
    })));
}

const timer = setInterval(() => announce('up'), interval * 1000);
announce('up').then(() => print('announced'));
answerQuestions({}).then(async () => {
    clearInterval(timer);
    await announce('down');
    sockets.forEach(socket => socket.close());
});
