'use strict';

// Hears every datagram that comes to a port, broadcast or not, and prints it with the time; ends
// when its standard input does.

const dgram = require('node:dgram');

const { answerQuestions, print } = require('./talk.js');

const { port } = JSON.parse(process.argv[2]);
const socket = dgram.createSocket({ type: 'udp4', reuseAddr: true });

socket.on('message', (content, { address }) => {
    print('datagram', { text: content.toString(), source: address });
});
socket.bind(port, () => print('listening'));
answerQuestions({}).then(() => socket.close());
