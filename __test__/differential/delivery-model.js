'use strict';

const { endpointOf } = require('./rules-model.js');

/**
 * What our manager tells a cluster of the events of its fleet: the difference between what it has
 * told and what is true, whenever the event loop comes round to it. Removes come before adds. A
 * cluster that finds a broker's id elsewhere is not given it (index.d.ts), unless that place has
 * another owner by now, who is then given anew under an id of its own.
 *
 * An instance never changes: {@link deliver} returns others.
 */
class DeliveryModel {
    /** By endpoint: the server that was last heard of. */
    #known;
    /** By endpoint: the server as the cluster was given it. */
    #holdings;

    constructor(known = new Map(), holdings = new Map()) {
        this.#known = known;
        this.#holdings = holdings;
    }

    /**
     * All ways to deliver these events that tell exactly what was observed: each is the model
     * after it. There are none if what was observed is wrong.
     *
     * @param {object[]} events - of the fleet, in order
     * @param {string[]} observed - what the cluster was told, each as `print` makes it
     * @param {(told: object) => string} print
     */
    deliveries(events, observed, print) {
        const found = [];
        const visit = (model, from, seen) => {
            if (from === events.length && seen === observed.length) {
                found.push(model);
                return;
            }
            for (let to = from + 1; to <= events.length; to += 1) {
                step(model.deliver(events.slice(from, to)), to, seen);
            }
            if (model.#isWithholding()) {
                step(model.review(), from, seen, true);
            }
        };
        const step = ({ model, told }, to, seen, needed = false) => {
            const fits = told.every((one, index) => print(one) === observed[seen + index]);
            if (fits && !(needed && told.length === 0)) {
                visit(model, to, seen + told.length);
            }
        };
        visit(this, 0, 0);
        return found;
    }

    /** Delivers these events at one go. */
    deliver(events) {
        const next = new DeliveryModel(new Map(this.#known), new Map(this.#holdings));
        const last = new Map();
        for (const event of events) {
            const endpoint = endpointOf(event.server);
            last.delete(endpoint);
            last.set(endpoint, event);
        }
        const changes = [...last].map(([endpoint, event]) => ({ ...event, endpoint }));
        const isKnown = ({ endpoint }) => this.#known.has(endpoint);
        const gone = changes.filter(({ op }) => op === 'remove').filter(isKnown);
        const there = changes.filter(({ op }) => op !== 'remove');
        const come = there.filter(change => !isKnown(change));

        const removed = gone.flatMap(({ endpoint, reason }) => next.#withdraw(endpoint, reason));
        there.forEach(({ endpoint, server }) => next.#known.set(endpoint, server));
        const added = come.flatMap(({ endpoint }) => next.#offer(endpoint));
        return { model: next, told: [...removed, ...added] };
    }

    /** Delivers each event by itself. */
    deliverEach(events) {
        let model = this;
        const told = events.flatMap(event => {
            const delivered = model.deliver([event]);
            model = delivered.model;
            return delivered.told;
        });
        return { model, told };
    }

    /** Now and then, what a cluster could not be given is offered again. */
    review() {
        const next = new DeliveryModel(new Map(this.#known), new Map(this.#holdings));
        const told = [...next.#known.keys()].flatMap(endpoint => next.#offer(endpoint));
        return { model: next, told };
    }

    #isWithholding() {
        return [...this.#known.keys()].some(endpoint => !this.#holdings.has(endpoint));
    }

    #offer(endpoint) {
        const server = this.#known.get(endpoint);

        if (this.#holdings.has(endpoint)) {
            return [];
        }
        const bearer = this.#bearer(server.id);
        if (bearer !== undefined && !this.#isReleasable(server.id)) {
            return [];
        }
        const released = bearer === undefined ? [] : this.#release(bearer);
        this.#holdings.set(endpoint, server);
        return [...released, { op: 'add', server: { ...server, type: 'up' } }];
    }

    /** Whether the place that has the id has another owner, who can be given under an own id. */
    #isReleasable(id, others = []) {
        const owner = this.#known.get(this.#bearer(id)).id;
        const isFree = this.#bearer(owner) === undefined;

        return ![id, ...others].includes(owner) && (isFree || this.#isReleasable(owner, [id, ...others]));
    }

    #release(endpoint) {
        const server = this.#holdings.get(endpoint);

        this.#holdings.delete(endpoint);
        return [{ op: 'remove', server: { ...server, type: 'down' } }, ...this.#offer(endpoint)];
    }

    #bearer(id) {
        const [endpoint] = [...this.#holdings].find(([, server]) => server.id === id) ?? [];
        return endpoint;
    }

    #withdraw(endpoint, reason) {
        const server = this.#holdings.get(endpoint);

        this.#known.delete(endpoint);
        this.#holdings.delete(endpoint);
        return server ? [{ op: 'remove', server: { ...server, type: reason } }] : [];
    }
}

exports.DeliveryModel = DeliveryModel;
