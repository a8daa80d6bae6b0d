'use strict';

const { LATE_MS } = require('./profiles.js');
const { readByRules } = require('./rules-reader.js');

/**
 * Of how many old guids an endpoint ignores what they say (rule 3). docs/protocol.md has no limit,
 * but the tracker remembers only the guid before the last restart.
 */
const FORMER_OWNERS = 1;

const endpointOf = ({ host, port }) => `${host}:${port}`;

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
            const grace = this.#now + endpoint.interval + 1;
            endpoint.graced ||= grace > endpoint.deadline;
            endpoint.deadline = Math.max(endpoint.deadline, grace);
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

        if (endpoint?.owner !== server.id && this.#isLate(server)) {
            return 8;
        }
        if (!endpoint && this.#endpoints.size >= this.#profile.maxServers) {
            return 10;
        }
        if (endpoint?.formers.includes(server.id) && !this.#isAbandoned(endpoint, server)) {
            return 3;
        }
        const lonely = !this.#activeOf(server.id);
        const restarted = endpoint !== undefined && endpoint.owner !== server.id;
        const current = this.#renewed(endpoint, server, datagram);

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

    /** Whether the owner has been silent for half the time that would remove it (rule 3). */
    #isAbandoned(endpoint, predecessor) {
        const interval = Math.min(endpoint.interval, predecessor.timeout);
        const correction = this.#profile.useAliveCheck ? this.#correction : 0;
        return this.#now - endpoint.lastUp > Math.max(1000, (interval + correction) / 2);
    }

    /** The endpoint after an `up`, with all but its being active. */
    #renewed(known, server, datagram) {
        const endpoint = known ?? { active: false, formers: [] };
        const restarted = known !== undefined && known.owner !== server.id;

        if (endpoint.owner !== server.id) {
            if (restarted) {
                endpoint.formers = [...endpoint.formers, endpoint.owner].slice(-FORMER_OWNERS);
            }
            endpoint.owner = server.id;
            endpoint.server = server;
        }
        endpoint.interval = server.timeout;
        endpoint.lastUp = this.#now;
        endpoint.deadline = this.#now + server.timeout + this.#correction + 1;
        endpoint.graced = false;
        endpoint.renewedBy = datagram;
        endpoint.heard = this.#heard += 1;
        this.#endpoints.set(endpointOf(server), endpoint);
        this.lastOwners.set(endpointOf(server), server.id);
        if (restarted && endpoint.active) {
            this.#tell('update', endpoint, datagram);
        }
        return endpoint;
    }

    #down(server, datagram) {
        const endpoint = this.at(server);

        if (endpoint?.formers.includes(server.id)) {
            return 3;
        }
        if (endpoint?.owner !== server.id) {
            return 7;
        }
        this.#leave(endpoint, 'down', datagram);
        this.#departures.push({ at: this.#now, id: server.id, endpoint: endpointOf(server) });
        return 6;
    }

    #judge() {
        const due = [...this.#endpoints.values()]
            .filter(({ deadline }) => deadline <= this.#now)
            .sort((a, b) => a.deadline - b.deadline);

        due.forEach(endpoint => this.#expire(endpoint));
    }

    /** Rule 5. Time stands at the deadline while the heir is looked for. */
    #expire(endpoint) {
        const { active, owner, deadline } = endpoint;

        this.#leave(endpoint, 'up', endpoint.renewedBy);
        if (!active || this.#activeOf(owner)) {
            return;
        }
        const [heir] = [...this.#endpoints.values()]
            .filter(other => other.owner === owner && other.deadline > deadline)
            .sort((a, b) => b.heard - a.heard);

        if (heir) {
            heir.active = true;
            this.#tell('add', heir, endpoint.renewedBy, true);
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

    #activeOf(id) {
        return [...this.#endpoints.values()].some(({ active, owner }) => active && owner === id);
    }

    #isLate({ id, host, port }) {
        return this.#departures.some(departure => departure.id === id
            && departure.endpoint === endpointOf({ host, port })
            && this.#now - departure.at < LATE_MS);
    }
}

module.exports = { RulesModel, endpointOf };
