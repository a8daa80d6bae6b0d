'use strict';

const { randomUUID } = require('node:crypto');
const { EventEmitter } = require('node:events');

const { selects } = require('./selector.js');

/** What the API server answers when a version, or the rest of a list, is not kept any more. */
class Expired extends Error {}

/**
 * The pods of a namespace, with the history of how they came to be so. Emits `change`.
 */
class PodStore extends EventEmitter {
    #compacted = 0;
    #history = [];
    #lists = new Map();
    #namespace;
    #pods = new Map();
    #version = 1000;

    constructor(namespace) {
        super();
        this.setMaxListeners(0);
        this.#namespace = namespace;
    }

    get version() {
        return String(this.#version);
    }

    get names() {
        return [...this.#pods.keys()];
    }

    /**
     * Adds a pod, or changes what is told of it and leaves the rest.
     *
     * @param {string} name
     * @param {object} [what]
     * @param {string|null} [what.ip] - its address; null: none yet
     * @param {string[]} [what.ips] - all its addresses, where there are several
     * @param {string} [what.phase] - by default Running with an address, Pending without
     * @param {boolean} [what.terminating]
     * @param {boolean} [what.hostNetwork]
     * @param {Record<string, string>} [what.labels]
     */
    set(name, what = {}) {
        const before = this.#pods.get(name);
        const told = { ...before?.told, ...what };
        const metadata = {
            name,
            namespace: this.#namespace,
            uid: before?.object.metadata.uid ?? randomUUID(),
            creationTimestamp: before?.object.metadata.creationTimestamp ?? timestamp(),
            labels: told.labels ?? {},
            ...(told.terminating && {
                deletionTimestamp: timestamp(),
                deletionGracePeriodSeconds: 30,
            }),
        };
        const object = { kind: 'Pod', apiVersion: 'v1', metadata, ...describe(told) };
        this.#record(before ? 'MODIFIED' : 'ADDED', object, before?.object);
        this.#pods.set(name, { told, object });
    }

    /** Takes a pod away. */
    remove(name) {
        const { object } = this.#pods.get(name);
        this.#pods.delete(name);
        this.#record('DELETED', structuredClone(object), object);
    }

    /** Forgets the history: who asks for anything of it is told that it has expired. */
    compact() {
        this.#version += 1;
        this.#compacted = this.#version;
        this.#history = [];
        this.#lists.clear();
    }

    /**
     * A page of the pods that are selected, as they were when the first page was asked for.
     *
     * @param {object} query
     * @param {number} [query.limit]
     * @param {string} [query.continue] - from the page before
     */
    list({ limit = Infinity, continue: token, ...selectors }) {
        const { version, items } = token ? this.#rest(token) : this.#all(selectors);
        const metadata = { resourceVersion: version };
        const page = items.slice(0, limit);
        const rest = items.slice(limit);
        if (rest.length > 0) {
            metadata.continue = randomUUID();
            metadata.remainingItemCount = rest.length;
            this.#lists.set(metadata.continue, { version, items: rest });
        }
        // Items of a list say neither what they are.
        const bare = page.map(({ kind, apiVersion, ...item }) => item);
        return { kind: 'PodList', apiVersion: 'v1', metadata, items: bare };
    }

    /** The events after a version, as those see them who select such pods. */
    since(version, selectors) {
        if (Number(version) < this.#compacted) {
            throw new Expired(`too old resource version: ${version} (${this.#compacted})`);
        }
        return this.#history
            .filter(entry => Number(entry.object.metadata.resourceVersion) > Number(version))
            .map(entry => seenBy(selectors, entry))
            .filter(Boolean);
    }

    #all(selectors) {
        const items = [...this.#pods.values()]
            .map(({ object }) => object)
            .filter(object => selects(selectors, object));
        return { version: this.version, items };
    }

    #rest(token) {
        const list = this.#lists.get(token);
        if (!list) {
            throw new Expired('The provided continue parameter is too old to display a consistent'
                + ' list result. You can start a new list without the continue parameter.');
        }
        this.#lists.delete(token);
        return list;
    }

    #record(type, object, before) {
        this.#version += 1;
        object.metadata.resourceVersion = this.version;
        const entry = { type, object, before };
        this.#history.push(entry);
        this.emit('change', entry);
    }
}

/** A change is another one for those who select only some pods; for some it is none. */
function seenBy(selectors, { type, object, before }) {
    const was = before !== undefined && selects(selectors, before);
    const is = type !== 'DELETED' && selects(selectors, object);
    if (was && is) {
        return { type: 'MODIFIED', object };
    }
    if (was || is) {
        return { type: is ? 'ADDED' : 'DELETED', object };
    }
    return undefined;
}

function describe({ ip = null, ips = [ip].filter(Boolean), phase, hostNetwork = false }) {
    return {
        spec: {
            nodeName: 'node-1',
            hostNetwork,
            containers: [{ name: 'service', image: 'service:1' }],
        },
        status: {
            phase: phase ?? (ips.length > 0 ? 'Running' : 'Pending'),
            hostIP: '10.99.0.1',
            ...(ips.length > 0 && { podIP: ips[0], podIPs: ips.map(one => ({ ip: one })) }),
            startTime: timestamp(),
        },
    };
}

function timestamp() {
    return new Date().toISOString().replace(/\.\d+Z$/, 'Z');
}

module.exports = { Expired, PodStore, seenBy };
