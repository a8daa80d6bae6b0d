'use strict';

const dgram = require('node:dgram');
const { once } = require('node:events');

const { freeUdpPort: freePort } = require('../../demo/support/ports.js');

/** Everything a test sends stays on this machine. */
const LOOPBACK = '127.0.0.1';

/** Where copies of what came by unicast are sent to. */
const LOOPBACK_BROADCAST = '127.255.255.255';

/** A broker's datagram, as the Redis module writes it. */
function datagram({
    name = 'imq-broker',
    id = 'id-1',
    type = 'up',
    host = '10.0.0.1',
    port = 6379,
    interval = 1,
    transport,
} = {}) {
    const fields = [name, id, type, `${host}:${port}`];
    if (type === 'up') {
        fields.push(interval, ...transport ? [transport] : []);
    }
    return fields.join('\t');
}

/** Sends datagrams to one port of this machine, in order. */
class Sender {
    #socket = dgram.createSocket('udp4').bind(0);
    #ready = once(this.#socket, 'listening').then(() => this.#socket.setBroadcast(true));

    constructor(port) {
        this.port = port;
    }

    /** Resolves when the datagram is with the system: what is sent later arrives later. */
    async send(content, host = LOOPBACK) {
        await this.#ready;
        await new Promise((resolve, reject) => {
            this.#socket.send(content, this.port, host, error => {
                return error ? reject(error) : resolve();
            });
        });
    }

    up(broker) {
        return this.send(datagram({ ...broker, type: 'up' }));
    }

    down(broker) {
        return this.send(datagram({ ...broker, type: 'down' }));
    }

    close() {
        this.#socket.close();
    }
}

/** Receives what is sent to one port of this machine. */
class Receiver {
    #socket = dgram.createSocket({ type: 'udp4', reuseAddr: true });
    #waiting = [];
    messages = [];

    constructor() {
        this.#socket.on('message', content => {
            this.messages.push(content.toString());
            this.#waiting = this.#waiting.filter(wait => !wait());
        });
    }

    /** Binds the socket, by default to any free port. */
    async bind(port = 0, address = LOOPBACK) {
        this.#socket.bind(port, address);
        await once(this.#socket, 'listening');
        this.port = this.#socket.address().port;
        return this;
    }

    /** Resolves when so many messages have come. */
    received(count) {
        return new Promise(resolve => {
            const wait = () => this.messages.length >= count && (resolve(this.messages), true);
            if (!wait()) {
                this.#waiting.push(wait);
            }
        });
    }

    close() {
        this.#socket.close();
    }
}

module.exports = { LOOPBACK, LOOPBACK_BROADCAST, Receiver, Sender, datagram, freePort };
