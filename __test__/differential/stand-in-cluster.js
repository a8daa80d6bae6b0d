'use strict';

/** As a `ClusteredRedisQueue` of `@imqueue/core` does: by id or by address. */
const matches = (a, b) => a.id === b.id || (a.host === b.host && a.port === b.port);

/** The cluster that both managers are given, and that tells what it was told. */
class StandInCluster {
    #note;
    #servers = [];

    /** @param {(op: 'add' | 'remove', server: object, gone?: object[]) => void} [note] */
    constructor(note = () => {}) {
        this.#note = note;
    }

    get servers() {
        return [...this.#servers];
    }

    add(server) {
        this.#note('add', server);
        const existing = this.find(server);
        if (!existing) {
            this.#servers.push(server);
        }
        return existing ?? server;
    }

    remove(server) {
        this.#note('remove', server, this.findAll(server));
        this.#servers = this.#servers.filter(other => !matches(other, server));
    }

    find(server) {
        return this.#servers.find(other => matches(other, server));
    }

    /** There may be two: one with its id, and one at its address. */
    findAll(server) {
        return this.#servers.filter(other => matches(other, server));
    }
}

exports.StandInCluster = StandInCluster;
