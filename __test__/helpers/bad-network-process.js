'use strict';

// Stands for a network that loses, doubles and reorders datagrams: sends on what it hears from one
// address, to each destination as chance will have it. The kernel's own means for that, tc netem,
// is not in every kernel.
//
// Asked for `counts`, it tells what it did; it ends when its standard input does.

const dgram = require('node:dgram');

const { answerQuestions, print } = require('./talk.js');

/** The chances are independent of each other. */
const { destinations, doubled, from, late, lateByMs, lost, seed } = JSON.parse(process.argv[2]);

const counts = { doubled: 0, heard: 0, late: 0, lost: 0, sent: 0 };
const random = generator(seed);
const socket = dgram.createSocket('udp4');

socket.on('message', (content, { address }) => {
    // What it broadcasts comes back to it as well.
    if (address !== from) {
        return;
    }
    for (const destination of destinations) {
        counts.heard += 1;
        forward(content, destination);
        if (happens(doubled)) {
            counts.doubled += 1;
            forward(content, destination);
        }
    }
});
socket.bind(63000, () => {
    socket.setBroadcast(true);
    print('listening');
});

answerQuestions({ counts: () => counts }).then(() => process.exit());

function forward(content, destination) {
    counts.sent += 1;
    if (happens(lost)) {
        counts.lost += 1;
    } else if (happens(late)) {
        counts.late += 1;
        setTimeout(() => socket.send(content, 63000, destination), random() * lateByMs);
    } else {
        socket.send(content, 63000, destination);
    }
}

function happens(chance) {
    return random() < chance;
}

/** Numbers from 0 to 1 that look random, and are the same for the same seed (xorshift32). */
function generator(state) {
    return () => {
        state ^= state << 13;
        state ^= state >>> 17;
        state ^= state << 5;
        return (state >>> 0) / 2 ** 32;
    };
}
