'use strict';

const { Place, locate } = require('./cluster-lookup.js');
const { drainQueue } = require('./drain.js');
const { errorText } = require('./error-text.js');
const { adoptLoosePromises, isPromise } = require('./loose-promises.js');
const { guardQueue } = require('./queue-guard.js');

/** How far a broker has come in a cluster. */
const State = Object.freeze({ Given: 'given', Pending: 'pending', Refused: 'refused' });

/**
 * One cluster that is attached to a manager: what it was given, and what it has to be given again.
 *
 * A callback of the cluster that throws or rejects is reported and goes no further.
 */
class Member {
    #attached = true;
    #known;
    #report;
    /**
     * Endpoint to the broker as the cluster was given it. The cluster knows it by the id that it
     * had then, whatever the broker's is by now.
     */
    #holdings = new Map();

    /**
     * @param {object} cluster - what `init` was called with
     * @param {() => Map<string, import('./server.js').Server>} known - the brokers there are now, by
     *     endpoint
     * @param {(level: string, cause: string, message: string) => void} report - told what went
     *     wrong
     */
    constructor(cluster, known, report) {
        this.cluster = cluster;
        this.#known = known;
        this.#report = report;
    }

    /** From here on none of the cluster's callbacks is called. */
    detach() {
        this.#attached = false;
        this.#holdings.clear();
    }

    /** Gives the cluster a broker, unless it has it. */
    offer(server) {
        if (!this.#attached || this.#holdings.has(server.endpoint)) {
            return;
        }
        const { place, record } = this.#seek(server);
        if (!this.#attached || place === Place.Elsewhere) {
            return;
        }
        const holding = { server, state: State.Given };
        this.#holdings.set(server.endpoint, holding);
        if (place === Place.Here) {
            this.#guard(holding, record);
        } else {
            this.#add(holding);
        }
    }

    /** Takes a broker away from the cluster. */
    withdraw(server, type) {
        const holding = this.#holdings.get(server.endpoint);

        if (holding) {
            this.#holdings.delete(server.endpoint);
            holding.withdrawn = type;
            this.#remove(holding, type);
        }
    }

    /** Offers a broker again that the cluster has refused or lost. */
    review(server) {
        const holding = this.#holdings.get(server.endpoint);

        if (holding && this.#isMissing(holding)) {
            this.#holdings.delete(server.endpoint);
        }
        this.offer(server);
    }

    /** Finds out where the cluster has a broker, and sees to it that its id is free, if it can be. */
    #seek(server) {
        const found = this.#locate(server);

        if (found.place === Place.Elsewhere && this.#isReleasable(server.id)) {
            this.#release(server.id);
            return this.#locate(server);
        }
        return found;
    }

    /**
     * A cluster knows a broker by the id that it was given under, also when another has taken over
     * the address. That one can go and come back under its own id, unless this is in use as well.
     */
    #isReleasable(id, asked = new Set()) {
        const bearer = this.#bearer(id);
        const successor = bearer && this.#known().get(bearer.endpoint);

        if (!successor || successor.id === id || asked.has(id)) {
            return false;
        }
        asked.add(id);
        return !this.#bearer(successor.id) || this.#isReleasable(successor.id, asked);
    }

    #release(id) {
        const bearer = this.#bearer(id);

        this.withdraw(bearer, 'down');
        this.offer(this.#known().get(bearer.endpoint));
    }

    /** What the cluster was given under this id. */
    #bearer(id) {
        return [...this.#holdings.values()].find(({ server }) => server.id === id)?.server;
    }

    #isMissing({ server, state }) {
        return state === State.Refused
            || (state === State.Given && this.#locate(server).place === Place.Nowhere);
    }

    #locate(server) {
        try {
            return locate(this.cluster, server);
        } catch (error) {
            this.#complain('find', server, error);
            return { place: Place.Unknown };
        }
    }

    #add(holding) {
        try {
            const result = this.#call('add', holding.server, 'up');
            if (isPromise(result)) {
                this.#follow(holding, result);
            } else {
                this.#guard(holding, result);
            }
        } catch (error) {
            this.#refuse(holding, error);
        }
    }

    #follow(holding, result) {
        holding.state = State.Pending;
        Promise.resolve(result).then(
            record => {
                holding.state = State.Given;
                this.#guard(holding, record);
                const isBack = this.#holdings.has(holding.server.endpoint);
                if (holding.withdrawn && this.#attached && !isBack) {
                    // It went while it was still being added, so that there was nothing to remove.
                    // Once it is back, removing it would take away what is there now.
                    this.#remove(holding, holding.withdrawn);
                }
            },
            error => this.#refuse(holding, error),
        );
    }

    #refuse(holding, error) {
        holding.state = State.Refused;
        this.#complain('add', holding.server, error);
    }

    #remove({ queue, server }, type) {
        if (type === 'down') {
            this.#drain(queue, server);
        }
        try {
            const result = this.#call('remove', server, type);
            Promise.resolve(result).catch(error => this.#complain('remove', server, error));
        } catch (error) {
            this.#complain('remove', server, error);
        }
    }

    #drain(queue, server) {
        const report = error => this.#report(
            'error',
            'drain',
            `reading the queue of ${server.endpoint} to its end failed: ${errorText(error)}`,
        );
        try {
            drainQueue(queue, report);
        } catch (error) {
            report(error);
        }
    }

    #call(method, server, type) {
        return adoptLoosePromises(
            () => this.cluster[method](server.toRecord(type)),
            error => this.#report(
                'warn',
                `${method} aftermath`,
                `what ${method}() of a cluster began for ${server.endpoint} failed: ${errorText(error)}`,
            ),
        );
    }

    /** What a record or a queue may throw when it is looked at is no reason to give it back. */
    #guard(holding, record) {
        const { server } = holding;

        try {
            holding.queue = record?.imq;
            guardQueue(holding.queue, error => this.#report(
                'warn',
                'queue',
                `the queue of ${server.endpoint} failed while nobody listened for errors: ${errorText(error)}`,
            ));
        } catch (error) {
            this.#report(
                'warn',
                'guard',
                `the queue of ${server.endpoint} cannot be guarded: ${errorText(error)}`,
            );
        }
    }

    #complain(method, server, error) {
        if (this.#attached) {
            const message = `${method}() of a cluster failed for ${server.endpoint}`;
            this.#report('error', method, `${message}: ${errorText(error, { stack: true })}`);
        }
    }
}

exports.Member = Member;
