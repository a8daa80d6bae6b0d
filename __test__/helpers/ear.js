'use strict';

const { Program } = require('./program.js');

/** What was announced on a port: each datagram with its fields and the time it came. */
class Ear {
    #program;

    /**
     * Resolves once it hears.
     *
     * @param {number} port
     * @param {object} [options]
     * @param {string} [options.address] - hears only what is sent to this address
     * @param {(script: string, options: object) => Program} [options.run] - starts a script
     *     somewhere else
     */
    static async open(port, { address, run = (...args) => Program.start(...args) } = {}) {
        const program = run('hear-process.js', { address, port });
        await program.line(({ event }) => event === 'listening');
        return new Ear(program);
    }

    constructor(program) {
        this.#program = program;
    }

    /** All that was heard so far. */
    get heard() {
        return this.#program.lines.filter(isDatagram).map(read);
    }

    /** The first `up` that was heard after `since`, on the clock of `monotonicNow`. */
    async up(where = {}, since = 0, deadline) {
        return read(await this.#program.line(said('up', where, since), deadline));
    }

    /** The first `down` that was heard after `since`, however many follow. */
    async goodbye(where = {}, since = 0, deadline) {
        return read(await this.#program.line(said('down', where, since), deadline));
    }

    /** The first `down` that was heard after `since`, once all three have come. */
    async down(where = {}, since = 0, deadline) {
        const [first] = await this.#program.some(3, said('down', where, since), deadline);
        return read(first);
    }

    async close() {
        await this.#program.kill();
    }
}

function isDatagram({ event }) {
    return event === 'datagram';
}

function read({ at, source, text }) {
    const [name, id, type, address, interval, transport] = text.split('\t');
    return { address, at, id, interval, name, source, text, transport, type };
}

function said(type, where, since) {
    const wanted = Object.entries({ ...where, type });
    return line => {
        if (!isDatagram(line) || line.at <= since) {
            return false;
        }
        const heard = read(line);
        return wanted.every(([key, value]) => heard[key] === value);
    };
}

module.exports = { Ear };
