'use strict';

const { seenBy } = require('./pod-store.js');

/** How long a watch lasts that does not say it. */
const TIMEOUT_S = 1800;

/** A watch that somebody has open. */
class Watch {
    #bookmarks;
    #muted = false;
    #response;
    #store;

    /**
     * @param {PodStore} store
     * @param {object} query - of the request
     * @param {ServerResponse} response
     */
    constructor(store, query, response) {
        this.#bookmarks = query.allowWatchBookmarks === 'true';
        this.#response = response;
        this.#store = store;

        const missed = store.since(query.resourceVersion, query);
        response.writeHead(200, { 'Content-Type': 'application/json' });
        response.flushHeaders();
        missed.forEach(event => this.#tell(event));

        const follow = entry => this.#tell(seenBy(query, entry));
        const timeout = Number(query.timeoutSeconds ?? TIMEOUT_S);
        const timer = setTimeout(() => this.#end(), timeout * 1e3);
        store.on('change', follow);
        response.once('close', () => {
            clearTimeout(timer);
            store.off('change', follow);
        });
    }

    bookmark() {
        if (this.#bookmarks) {
            const metadata = { resourceVersion: this.#store.version, creationTimestamp: null };
            const object = {
                kind: 'Pod', apiVersion: 'v1', metadata, spec: { containers: null }, status: {},
            };
            this.#tell({ type: 'BOOKMARK', object });
        }
    }

    expire(message) {
        const object = { kind: 'Status', status: 'Failure', reason: 'Expired', code: 410, message };
        this.#tell({ type: 'ERROR', object });
        this.#response.end();
    }

    cut() {
        this.#response.socket.destroy();
    }

    mute() {
        this.#muted = true;
    }

    write(text) {
        this.#response.write(text);
    }

    #tell(event) {
        if (event && !this.#muted && !this.#response.writableEnded) {
            this.write(`${JSON.stringify(event)}\n`);
        }
    }

    /** As the API server does, it tells before where to go on. */
    #end() {
        if (!this.#muted) {
            this.bookmark();
            this.#response.end();
        }
    }
}

module.exports = { Watch };
