'use strict';

const { LATE_MS } = require('./profiles.js');
const { readByRules } = require('./rules-reader.js');

const endpointOf = ({ host, port }) => `${host}:${port}`;

/** Whether it owned the endpoint before the owner did (rule 3). */
const isFormer = (endpoint, { id }) => endpoint?.former?.server.id === id;

/**
 * What happens in a fleet by the rules of docs/protocol.md, in virtual time.
 *
 * Events are returned as a list of `{ op, server, reason, datagram, heir }`, where the datagram is
 * the one that was acted upon or, for a deadline, that had set it; `heir` says that an endpoint was
 * promoted.
 */
class RulesModel {
    #correction;
    #profile;
    #now = 0;
    #heard = 0;
    #endpoints = new Map();
    #departures = [];
    #events = [];
    /**
     * By datagram: what it was taken for, as `{ rejected }`, `{ ignored: 'name' }`, or the rule and
     * whether its endpoint is a standby then, as `{ rule, standby }`.
     */
    verdicts = [];
    /** By endpoint: its last owner, also when it is gone. */
    lastOwners = new Map();

    /**
     * @param {import('./profiles.js').Profile} profile
     * @param {number} correction - `aliveTimeoutCorrection` in ms
     */
    constructor(profile, correction) {
        this.#profile = profile;
        this.#correction = profile.useAliveCheck ? correction : Infinity;
    }

    /** The endpoint as it is, or `undefined`. */
    at(server) {
        return this.#endpoints.get(endpointOf(server));
    }

    handle(bytes, datagram) {
        const { server, rejected } = readByRules(bytes);

        this.verdicts[datagram] = rejected ? { rejected } : this.#dispatch(server, datagram);
        return this.#events.splice(0);
    }

    /** Lets time pass, in which nothing arrives. */
    advance(ms) {
        this.#now += ms;
        this.#judge();
        return this.#events.splice(0);
    }

    /** Rule 12: what has arrived is read, and then every endpoint has an interval of grace. */
    suspend(ms, read) {
        this.#now += ms;
        const events = read();
        for (const endpoint of this.#endpoints.values()) {
            [endpoint, endpoint.former].filter(Boolean).forEach(claim => this.#grantGrace(claim));
        }
        this.#judge();
        return [...events, ...this.#events.splice(0)];
    }

    #dispatch(server, datagram) {
        const { names } = this.#profile;

        if (names && !names.includes(server.name)) {
            return { ignored: 'name' };
        }
        const rule = server.type === 'up'
            ? this.#up(server, datagram)
            : this.#down(server, datagram);
        return { rule, standby: this.at(server)?.active === false };
    }

    #up(server, datagram) {
        const endpoint = this.at(server);

        if (endpoint?.server.id !== server.id && this.#isLate(server)) {
            return 8;
        }
        if (!endpoint && this.#endpoints.size >= this.#profile.maxServers) {
            return 10;
        }
        const claim = this.#claim(server, datagram);
        if (isFormer(endpoint, server)) {
            endpoint.former = { ...claim, server: endpoint.former.server };
            return 3;
        }
        const lonely = !this.#activeOf(server.id);
        const restarted = endpoint !== undefined && endpoint.server.id !== server.id;
        const current = this.#renewed(endpoint, claim);

        if (!current.active && lonely) {
            current.active = true;
            this.#tell('add', current, datagram);
            return endpoint ? 9 : 1;
        }
        if (restarted) {
            return 3;
        }
        return endpoint ? 2 : 4;
    }

    /** What an `up` makes of whoever sends it, at its endpoint. */
    #claim(server, datagram) {
        return {
            server,
            interval: server.timeout,
            deadline: this.#now + server.timeout + this.#correction + 1,
            graced: false,
            renewedBy: datagram,
            heard: this.#heard += 1,
        };
    }

    /** The endpoint after an `up`, with all but its being active. */
    #renewed(known, claim) {
        if (!known) {
            const endpoint = { ...claim, active: false };
            this.#endpoints.set(endpointOf(claim.server), endpoint);
            this.lastOwners.set(endpointOf(claim.server), claim.server.id);
            return endpoint;
        }
        if (known.server.id !== claim.server.id) {
            this.#transfer(known, claim, claim.renewedBy);
            return known;
        }
        return Object.assign(known, claim, { server: known.server });
    }

    /** Rule 3: by a restart or, where it had not restarted, back. */
    #transfer(endpoint, claim, datagram) {
        const { active, former, ...previous } = endpoint;

        Object.assign(endpoint, claim, { former: previous });
        this.lastOwners.set(endpointOf(claim.server), claim.server.id);
        if (active) {
            this.#tell('update', endpoint, datagram);
        }
    }

    #down(server, datagram) {
        const endpoint = this.at(server);

        if (isFormer(endpoint, server)) {
            endpoint.former.left = true;
            return 3;
        }
        if (endpoint?.server.id !== server.id) {
            return 7;
        }
        this.#leave(endpoint, 'down', datagram);
        this.#departures.push({ at: this.#now, id: server.id, endpoint: endpointOf(server) });
        return 6;
    }

    /** One by one: what goes back to its former owner may be due again. */
    #judge() {
        const next = () => [...this.#endpoints.values()]
            .filter(({ deadline }) => deadline <= this.#now)
            .sort((a, b) => a.deadline - b.deadline)[0];

        for (let due = next(); due; due = next()) {
            this.#expire(due);
        }
    }

    /** Rules 3 and 5. Time stands at the deadline while whoever comes next is looked for. */
    #expire(endpoint) {
        const { active, deadline, former, heard, renewedBy, server: { id } } = endpoint;

        if (former && former.heard > heard && !former.left && former.deadline > deadline) {
            this.#transfer(endpoint, former, renewedBy);
            return;
        }
        this.#leave(endpoint, 'up', renewedBy);
        if (!active || this.#activeOf(id)) {
            return;
        }
        const [heir] = [...this.#endpoints.values()]
            .filter(other => other.server.id === id && other.deadline > deadline)
            .sort((a, b) => b.heard - a.heard);

        if (heir) {
            heir.active = true;
            this.#tell('add', heir, renewedBy, true);
        }
    }

    #leave(endpoint, reason, datagram) {
        const { server } = endpoint;

        this.#endpoints.delete(endpointOf(server));
        if (endpoint.active) {
            this.#events.push({ op: 'remove', server, reason, datagram, endpoint });
        }
    }

    #tell(op, endpoint, datagram, heir = false) {
        this.#events.push({ op, server: endpoint.server, datagram, endpoint, heir });
    }

    #grantGrace(claim) {
        const grace = this.#now + claim.interval + 1;

        claim.graced ||= grace > claim.deadline;
        claim.deadline = Math.max(claim.deadline, grace);
    }

    #activeOf(id) {
        return [...this.#endpoints.values()]
            .some(({ active, server }) => active && server.id === id);
    }

    #isLate({ id, host, port }) {
        return this.#departures.some(departure => departure.id === id
            && departure.endpoint === endpointOf({ host, port })
            && this.#now - departure.at < LATE_MS);
    }
}

module.exports = { RulesModel, endpointOf };
