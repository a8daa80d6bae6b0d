'use strict';

const { execFile } = require('node:child_process');

const { senderProgram } = require('./native');

/** Sends the heartbeats of a fleet to one port, from processes of their own. */
class Sender {
    #children = new Set();
    #port;

    constructor(port) {
        this.#port = port;
    }

    /**
     * @param {object} fleet
     * @param {number | 'new'} fleet.brokers - how many there are, or that each datagram comes from
     *     a new one, whose id says when it was sent
     * @param {number} fleet.rate - datagrams a second
     * @param {number} fleet.seconds - for how long
     * @returns {Promise<number>} how many were sent, once they are
     */
    announce({ brokers, rate, seconds }) {
        return new Promise((resolve, reject) => {
            const args = [this.#port, brokers, rate, seconds].map(String);
            const child = execFile(senderProgram(), args, (error, output) => {
                this.#children.delete(child);
                if (error) {
                    reject(error);
                } else {
                    resolve(JSON.parse(output).sent);
                }
            });
            this.#children.add(child);
        });
    }

    close() {
        this.#children.forEach(child => child.kill('SIGKILL'));
    }
}

exports.Sender = Sender;
