'use strict';

/** What one cluster was given: found by its endpoint, and by the id that the cluster knows it by. */
class Holdings {
    #byEndpoint = new Map();
    #byId = new Map();

    get(endpoint) {
        return this.#byEndpoint.get(endpoint);
    }

    has(endpoint) {
        return this.#byEndpoint.has(endpoint);
    }

    /** What the cluster knows by this id. */
    bearer(id) {
        return this.#byId.get(id);
    }

    /** @param {{ server: import('./server.js').Server }} holding - no other has its id */
    add(holding) {
        this.#byEndpoint.set(holding.server.endpoint, holding);
        this.#byId.set(holding.server.id, holding);
    }

    delete({ server }) {
        this.#byEndpoint.delete(server.endpoint);
        this.#byId.delete(server.id);
    }

    clear() {
        this.#byEndpoint.clear();
        this.#byId.clear();
    }
}

exports.Holdings = Holdings;
