'use strict';

const { AsyncResource } = require('node:async_hooks');

const { Server } = require('./server.js');

/** So many changes are delivered before the event loop gets its turn. */
const DRAIN_LIMIT = 256;

/**
 * One period of listening, from a manager's start to its `destroy`.
 *
 * Nothing is told any more once it is closed, not even the rest of the drain that it was closed in.
 */
class Subscription {
    #environment;
    #native;
    #settings;
    #sink;
    #known = new Map();
    /** What is to be logged. */
    #lines = [];
    #open = true;
    /**
     * The asynchronous context that this was made in. Wake-ups have that of whatever was made first,
     * which may be a request of somebody else.
     */
    #context = new AsyncResource('RustUDPClusterManager');

    /**
     * @param {import('./environment.js').Environment} environment
     * @param {object} settings - clean, as `readManagerOptions` makes them
     * @param {object} sink - where news go; none of its functions may throw
     * @param {(server: Server) => void} sink.offer - gives a broker to the clusters
     * @param {(server: Server, type: 'up' | 'down') => void} sink.withdraw - takes it away again
     * @param {(event: string, ...args: unknown[]) => void} sink.notify - emits an event, once the
     *     clusters are served
     * @param {(level: string, message: string) => void} sink.log - writes what an operator should
     *     know
     * @throws {Error} when the native listener cannot be started
     */
    constructor(environment, settings, sink) {
        const { port, address, relay, correction, maxServers, names } = settings;

        this.#environment = environment;
        this.#settings = settings;
        this.#sink = sink;
        this.#native = environment.admit(this, (binding, native) => new binding.Listener(
            native,
            port,
            address,
            relay,
            correction,
            maxServers,
            names,
        ));
    }

    /** The brokers that were told of and are still there, by endpoint. */
    get known() {
        return this.#known;
    }

    /** What the socket is bound to, or `undefined` while it is not. */
    get address() {
        const address = this.#native.address();
        return address === null ? undefined : { address, port: this.#settings.port };
    }

    /** The brokers with what changes at each heartbeat. */
    servers() {
        const servers = [];
        this.#native.servers((guid, name, host, port, transport, lastSeen, source) => {
            const identity = { guid, name, host, port, transport: transport ?? undefined };
            servers.push({ ...identity, lastSeen, source });
        });
        return servers;
    }

    /** The native counters; a name with a dot in it is a counter within a group. */
    stats() {
        const stats = {};
        this.#native.stats((name, value) => {
            const [group, counter] = name.split('.');
            if (counter === undefined) {
                stats[name] = value;
            } else {
                (stats[group] ??= {})[counter] = value;
            }
        });
        return stats;
    }

    /** Delivers what is new, up to a limit, and says whether more is waiting. */
    drain() {
        return this.#open && this.#context.runInAsyncScope(() => {
            const more = this.#native.drain(DRAIN_LIMIT, this.#onChange, this.#onNotice);
            // Not before the clusters have what is new.
            this.#lines.splice(0).forEach(([level, message]) => this.#sink.log(level, message));
            return more;
        });
    }

    close() {
        if (this.#open) {
            this.#open = false;
            this.#native.close();
            this.#environment.dismiss(this);
        }
    }

    #onChange = (kind, id, name, host, port, timeout, transport, detail) => {
        if (!this.#open) {
            return;
        }
        const server = new Server(id, name, host, port, timeout, transport ?? undefined);
        switch (kind) {
            case 'add':
                return this.#added(server);
            case 'remove':
                return this.#removed(server, detail === 'down' ? 'down' : 'up');
            default:
                return this.#updated(server, detail);
        }
    };

    #added(server) {
        this.#known.set(server.endpoint, server);
        this.#sink.offer(server);
        this.#notify('add', server.toRecord('up'));
    }

    #removed(server, type) {
        this.#known.delete(server.endpoint);
        this.#sink.withdraw(server, type);
        this.#notify('remove', server.toRecord(type));
    }

    /** Clusters keep a broker that restarted under the id that they know it by. */
    #updated(server, previousId) {
        this.#known.set(server.endpoint, server);
        this.#notify('update', server.toRecord('up'), previousId);
    }

    #onNotice = (level, code, message) => {
        if (!this.#open) {
            return;
        }
        this.#lines.push([level, message]);
        const address = code === 'listening' ? this.address : undefined;
        if (address) {
            this.#notify('listening', address);
        }
    };

    /** A cluster's callback may have closed this subscription meanwhile. */
    #notify(event, ...args) {
        if (this.#open) {
            this.#sink.notify(event, ...args);
        }
    }
}

exports.Subscription = Subscription;
