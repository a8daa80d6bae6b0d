'use strict';

const { Holdings } = require('./holdings.js');
const { Place, locate } = require('./cluster-lookup.js');
const { departure, followDeparture } = require('./departures.js');
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
     * The brokers as the cluster was given them. It knows each by the id that it had then, whatever
     * the broker's is by now.
     */
    #holdings = new Holdings();
    /** By endpoint: brokers that went while they were still being added, and when they have been. */
    #unsettled = new Map();
    /** Endpoints that can be given once somebody has let go of them. */
    #waiting = new Set();

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
        const { endpoint } = server;
        if (!this.#attached || this.#holdings.has(endpoint) || this.#waiting.has(endpoint)) {
            return;
        }
        const free = this.#unsettled.get(endpoint) ?? departure(endpoint);
        if (free) {
            this.#waiting.add(endpoint);
            free.then(() => {
                this.#waiting.delete(endpoint);
                this.#offerWhatIsAt(endpoint);
            });
            return;
        }
        const { place, record } = this.#seek(server);
        if (!this.#attached || place === Place.Elsewhere) {
            return;
        }
        const holding = { server, state: State.Given };
        this.#holdings.add(holding);
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
            this.#holdings.delete(holding);
            holding.withdrawn = type;
            if (holding.state === State.Pending) {
                const settled = holding.settled.then(() => this.#unsettled.delete(server.endpoint));
                this.#unsettled.set(server.endpoint, settled);
            }
            this.#remove(holding, type);
        }
    }

    /** Offers a broker again that the cluster has refused or lost. */
    review(server) {
        const holding = this.#holdings.get(server.endpoint);

        if (holding && this.#isMissing(holding, server)) {
            this.#holdings.delete(holding);
        }
        this.offer(server);
    }

    #offerWhatIsAt(endpoint) {
        const server = this.#known().get(endpoint);

        if (server) {
            this.offer(server);
        }
    }

    /** Finds out where the cluster has a broker, and sees to it that its id is free, if it can be. */
    #seek(server) {
        const bearer = this.#holdings.bearer(server.id);
        const found = bearer ? { place: Place.Elsewhere } : this.#locate(server);

        if (found.place === Place.Elsewhere && this.#isReleasable(server.id)) {
            this.#release(bearer);
            return this.#locate(server);
        }
        return found;
    }

    /**
     * A cluster knows a broker by the id that it was given under, also when another has taken over
     * the address. That one can go and come back under its own id, unless this is in use as well.
     */
    #isReleasable(id, asked = new Set()) {
        const bearer = this.#holdings.bearer(id);
        const successor = bearer && this.#known().get(bearer.server.endpoint);

        if (!successor || successor.id === id || asked.has(id)) {
            return false;
        }
        asked.add(id);
        return !this.#holdings.bearer(successor.id) || this.#isReleasable(successor.id, asked);
    }

    #release({ server }) {
        this.withdraw(server, 'down');
        this.#offerWhatIsAt(server.endpoint);
    }

    /** Whether the cluster has refused or lost the broker, which may have another id by now. */
    #isMissing({ server, state }, now) {
        if (state !== State.Given) {
            return state === State.Refused;
        }
        const { place } = this.#locate(server);
        const isTaken = place === Place.Elsewhere && now.id !== server.id;

        return place === Place.Nowhere
            || (isTaken && this.#locate(now).place === Place.Nowhere);
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
        holding.settled = Promise.resolve(result).then(
            record => {
                holding.state = State.Given;
                this.#guard(holding, record);
                if (holding.withdrawn && this.#attached) {
                    // It went while it was still being added, so that there was nothing to remove.
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
        if (this.#locate(server).place === Place.Elsewhere) {
            // The cluster lost it, and would take another one away that has the same id.
            return;
        }
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
            followDeparture(holding.queue, server.endpoint);
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
