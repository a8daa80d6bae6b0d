'use strict';

// Hears every datagram that comes to a port, broadcast or not, or only those for an address, and
// prints them with the time; ends when its standard input does.

const dgram = require('node:dgram');

const { answerQuestions, print } = require('./talk.js');

const { address, port } = JSON.parse(process.argv[2]);
const socket = dgram.createSocket({ type: 'udp4', reuseAddr: true });

socket.on('message', (content, { address }) => {
    print('datagram', { text: content.toString(), source: address });
});
socket.bind(port, address, () => print('listening'));
answerQuestions({}).then(() => socket.close());
