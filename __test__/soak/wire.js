'use strict';

const { createSocket } = require('node:dgram');
const { once } = require('node:events');

const { now } = require('../../demo/support/clock.js');

/** Hears every announcement beside the managers, without any code of theirs. */
class Wire {
    #socket = createSocket({ type: 'udp4', reuseAddr: true });

    /** @param {(datagram: object) => void} heard - told `{ name, id, kind, endpoint, at }` */
    constructor(heard) {
        this.#socket.on('message', message => {
            const [name, id, kind, endpoint] = message.toString().split('\t');
            heard({ name, id, kind, endpoint, at: now() });
        });
    }

    /** Starts to listen on a free port, and returns it. */
    async open() {
        this.#socket.bind(0);
        await once(this.#socket, 'listening');
        return this.#socket.address().port;
    }

    close() {
        this.#socket.close();
    }
}

exports.Wire = Wire;
