'use strict';

const { join } = require('node:path');
const { pathToFileURL } = require('node:url');

const SILENT = { log() {}, info() {}, warn() {}, error() {} };

/** What is measured: this package, its peer, or a Node.js process without either. */
class Subject {
    #Manager;
    #settings;

    /**
     * @param {object} settings
     * @param {'ours' | 'peer' | 'bare'} settings.subject
     * @param {string} settings.peer - where the peer is
     * @param {number} settings.port - where managers listen
     */
    constructor(settings) {
        this.#settings = settings;
    }

    get isBare() {
        return this.#settings.subject === 'bare';
    }

    get port() {
        return this.#settings.port;
    }

    async load() {
        const { subject, peer } = this.#settings;
        const file = subject === 'ours' ? join(__dirname, '..', 'index.js') : peer;

        if (!this.isBare) {
            const loaded = await import(pathToFileURL(file));
            this.#Manager = loaded.UDPClusterManager ?? loaded.default?.UDPClusterManager;
            if (!this.#Manager) {
                throw new Error(`${file} has no UDPClusterManager`);
            }
        }
    }

    /** Starts a manager. The peer has no limit, and writes no log. */
    createManager() {
        const ours = { logger: SILENT, maxServers: 1_000_000 };
        const more = this.#settings.subject === 'ours' ? ours : {};

        return new this.#Manager({ port: this.port, ...more });
    }
}

/** A cluster that costs as little as can be, and counts what it is asked. */
class Cluster {
    #servers = new Map();
    /** How often anybody looked for a server, which the peer does for each heartbeat. */
    lookups = 0;

    /** @param {(server: object) => void} onAdd */
    constructor(onAdd = () => {}) {
        this.add = server => {
            this.#servers.set(server.id, server);
            onAdd(server);
            return server;
        };
    }

    get size() {
        return this.#servers.size;
    }

    find = server => {
        this.lookups += 1;
        return this.#servers.get(server.id);
    };

    remove = server => {
        this.#servers.delete(server.id);
    };
}

module.exports = { Cluster, Subject };
