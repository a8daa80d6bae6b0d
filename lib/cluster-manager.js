'use strict';

const { EventEmitter } = require('node:events');
const { randomUUID } = require('node:crypto');

const check = require('./checks.js');
const { errorText } = require('./error-text.js');
const { Roster } = require('./roster.js');
const { Subscription } = require('./subscription.js');
const { ThrottledLogger } = require('./logger.js');
const { readManagerOptions } = require('./options.js');

const NO_SERVERS = new Map();

/** The cluster manager. Its public side is documented in index.d.ts. */
class ClusterManager extends EventEmitter {
    #closed = Promise.resolve();
    #environment;
    #finalStats;
    #logger;
    #referenced = true;
    #roster;
    #settings;
    #subscription;

    constructor(environment, options) {
        super();
        const { logger, settings, warnings } = readManagerOptions(options);

        this.#environment = environment;
        this.#logger = new ThrottledLogger(logger, 'RustUDPClusterManager');
        this.#roster = new Roster(
            () => this.#subscription?.known ?? NO_SERVERS,
            (level, cause, message) => this.#logger.report(level, cause, message),
        );
        this.#settings = settings;
        warnings.forEach(warning => this.#logger.write('warn', warning));
        this.#listen();
    }

    get clusters() {
        return this.#roster.clusters;
    }

    get listening() {
        return this.#subscription?.address !== undefined;
    }

    get servers() {
        return this.#subscription?.servers() ?? [];
    }

    stats() {
        const stats = this.#subscription?.stats() ?? structuredClone(this.#finalStats);
        return { ...stats, wakeups: this.#environment.wakeups };
    }

    init(cluster) {
        check.methods(cluster, 'cluster', ['add', 'remove']);
        Object.assign(cluster, { id: randomUUID() });
        this.#listen();
        this.#roster.attach(cluster);
        return cluster;
    }

    async remove(cluster, destroy = true) {
        this.#roster.detach(cluster);
        if (this.#roster.clusters.length === 0 && destroy) {
            await this.destroy();
        }
    }

    async forEachCluster(fn) {
        const results = await Promise.allSettled(this.clusters.map(async cluster => fn(cluster)));

        for (const { reason } of results.filter(({ status }) => status === 'rejected')) {
            this.#logger.report('error', 'forEachCluster', `forEachCluster() failed: ${errorText(reason)}`);
        }
    }

    async anyCluster(fn) {
        await Promise.all(this.clusters.map(cluster => fn(cluster)));
    }

    destroy() {
        const subscription = this.#subscription;

        if (subscription) {
            this.#finalStats = subscription.stats();
            this.#subscription = undefined;
            subscription.close();
            this.#roster.clear();
            this.#logger.flush();
            this.#closed = Promise.resolve().then(() => this.#notify('close'));
        }
        return this.#closed;
    }

    ref() {
        this.#referenced = true;
        this.#environment.hold(this.#subscription);
        return this;
    }

    unref() {
        this.#referenced = false;
        this.#environment.release(this.#subscription);
        return this;
    }

    #listen() {
        if (this.#subscription) {
            return;
        }
        this.#subscription = new Subscription(this.#environment, this.#settings, {
            offer: server => this.#roster.offer(server),
            withdraw: (server, type) => this.#roster.withdraw(server, type),
            notify: (event, ...args) => this.#notify(event, ...args),
            log: (level, message) => this.#logger.write(level, message),
        });
        if (this.#referenced) {
            this.ref();
        }
    }

    /**
     * Emits an event. A listener that throws is the application's own failure, so that it surfaces
     * as an uncaught exception, but only after everybody else has been told what is new.
     */
    #notify(event, ...args) {
        try {
            this.emit(event, ...args);
        } catch (error) {
            process.nextTick(() => {
                throw error;
            });
        }
    }
}

exports.ClusterManager = ClusterManager;
