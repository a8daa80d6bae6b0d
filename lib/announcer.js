'use strict';

const { ThrottledLogger } = require('./logger.js');
const { readAnnouncerOptions } = require('./announcer-options.js');

/** Announces one address. Its public side is documented in index.d.ts. */
class Announcer {
    #environment;
    #logger;
    #native;
    #referenced = true;
    #settings;
    #started;
    /** Nothing has come of the first round yet. */
    #starting = false;
    #stopped;
    /** The last of `start` and `stop` to be called wins. */
    #wanted = false;

    constructor(environment, options) {
        const { logger, settings, warnings } = readAnnouncerOptions(options);

        this.#environment = environment;
        this.#logger = new ThrottledLogger(logger, `Announcer ${settings.host}:${settings.port}`);
        this.#settings = settings;
        warnings.forEach(warning => this.#logger.write('warn', warning));
    }

    get host() {
        return this.#settings.host;
    }

    get id() {
        return this.#settings.id;
    }

    get name() {
        return this.#settings.name;
    }

    get port() {
        return this.#settings.port;
    }

    async start() {
        this.#wanted = true;
        if (this.#stopped) {
            await this.#stopped.promise;
        }
        if (this.#wanted && !this.#native) {
            this.#launch();
        }
        await this.#started?.promise;
        return this;
    }

    async stop() {
        this.#wanted = false;
        if (this.#native && !this.#stopped) {
            this.#stopped = deferred();
            this.#native.stop();
            this.#hold();
        }
        await this.#stopped?.promise;
    }

    ref() {
        this.#referenced = true;
        this.#hold();
        return this;
    }

    unref() {
        this.#referenced = false;
        this.#hold();
        return this;
    }

    /** Called by the environment when there is news; there is never more than fits in one go. */
    drain() {
        this.#native.drain((level, code, message) => {
            this.#logger.write(level, message);
            if (code === 'stopped') {
                this.#close();
            } else {
                // Sent, or failed to be sent: either way the first round has been tried.
                this.#starting = false;
                this.#started.resolve();
                this.#hold();
            }
        });
        return false;
    }

    #launch() {
        const { host, port, name, id, interval, transport, destinations } = this.#settings;

        this.#native = this.#environment.admit(this, (binding, native) => new binding.Announcer(
            native,
            host,
            port,
            name,
            id,
            interval * 1000,
            transport,
            destinations,
        ));
        this.#started = deferred();
        this.#starting = true;
        this.#hold();
    }

    /** A process that ended while it waits for `start` or `stop` would do so with an error. */
    #hold() {
        if (this.#referenced || this.#starting || this.#stopped) {
            this.#environment.hold(this);
        } else {
            this.#environment.release(this);
        }
    }

    #close() {
        this.#native.close();
        this.#native = undefined;
        this.#environment.dismiss(this);
        this.#starting = false;
        this.#started.resolve();
        this.#stopped?.resolve();
        this.#stopped = undefined;
    }
}

/** A promise that is settled from elsewhere. */
function deferred() {
    let resolve;
    const promise = new Promise(settle => {
        resolve = settle;
    });
    return { promise, resolve };
}

exports.Announcer = Announcer;
