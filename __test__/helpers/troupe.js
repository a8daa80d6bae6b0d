'use strict';

const { Program } = require('./program.js');
const { isAnnounced } = require('./said.js');
const { LOOPBACK_BROADCAST, Receiver, freePort } = require('./udp.js');

/**
 * Runs a test with a listener and announcers in processes of their own, which talk on a port of
 * this machine's loopback interface that nobody else uses. They are gone when it ends.
 *
 * @param {(troupe: Troupe) => Promise<void>} test
 */
async function withTroupe(test) {
    const troupe = new Troupe(await freePort());
    try {
        await test(troupe);
    } finally {
        await troupe.close();
    }
}

class Troupe {
    #programs = [];
    #receivers = [];

    constructor(port) {
        this.port = port;
    }

    /** Starts a listener, and resolves with it once it listens. */
    async listen(options, how) {
        const program = this.#start('listen-process.js', { port: this.port, ...options }, how);
        await program.line(({ event }) => event === 'listening');
        return program;
    }

    /** Starts announcers, and resolves once they have begun. */
    async announce(options, how) {
        const destinations = [`${LOOPBACK_BROADCAST}:${this.port}`];
        const program = this.#start('announce-process.js', { destinations, ...options }, how);
        await program.line(isAnnounced);
        return program;
    }

    /** Somebody who hears the copies of what came by unicast. */
    async eavesdrop() {
        const receiver = await new Receiver().bind(this.port, LOOPBACK_BROADCAST);
        this.#receivers.push(receiver);
        return receiver;
    }

    async close() {
        this.#receivers.forEach(receiver => receiver.close());
        await Promise.all(this.#programs.map(program => program.kill()));
    }

    #start(script, options, how) {
        const program = Program.start(script, options, how);
        this.#programs.push(program);
        return program;
    }
}

exports.withTroupe = withTroupe;
