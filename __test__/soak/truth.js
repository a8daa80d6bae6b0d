'use strict';

/** What is judged is so old that everything that bears on it has been heard of. */
const SETTLED_MS = 1500;

/** A new broker is to be known to all within this time. */
const JOIN_MS = 1000;

/** A goodbye is followed at once, a passed deadline within this time. */
const PROMPT_MS = 100;

/**
 * An announcement is noted when this process reads it, which may be later than when a manager did:
 * by so much, and the slack, a removal may seem to be early. It stays clearly less than the second
 * that one lost heartbeat makes.
 */
const EARLY_MS = 150;
const MAX_EARLY_MS = 700;

/** When everything is wrong, so many lines say it. */
const FAULTS = 200;

/** So many runs of an endpoint are remembered; judged are the last of them. */
const RUNS = 8;

/**
 * What the fleet really is, from what was heard on the wire and done to the brokers, and every
 * place where a manager told otherwise.
 *
 * A *run* is a broker from its start to its end: one guid at one endpoint.
 */
class Truth {
    #early;
    #interval;
    #onFault;
    #slack;
    #members = new Map();
    /** Endpoint to its runs, the latest last. */
    #runs = new Map();
    #waiting = [];

    /** What was wrong, as lines; no more than the first of them. */
    faults = [];
    faultCount = 0;
    /** What happened how long after its cause, in ms. */
    delays = { join: [], leave: [], evict: [], restart: [], gap: [] };
    checked = 0;

    /**
     * @param {object} settings
     * @param {number} settings.interval - between two announcements, in ms
     * @param {number} settings.slack - in ms, what a loaded machine may add to each time
     * @param {(line: string) => void} [settings.onFault] - told of each as it is found
     */
    constructor({ interval, slack, onFault = () => {} }) {
        this.#interval = interval;
        this.#slack = slack;
        this.#early = Math.min(EARLY_MS + slack, MAX_EARLY_MS);
        this.#onFault = onFault;
    }

    /**
     * A manager listens from now on; one of that name that did before is forgotten.
     *
     * @param {string} name
     * @param {object} how
     * @param {number} how.at - since when
     * @param {number} how.correction - its `aliveTimeoutCorrection`
     * @param {string} [how.only] - the one announcement name that it accepts
     */
    addMember(name, { at, correction, only }) {
        this.#members.set(name, { name, since: at, correction, only, view: new Map() });
    }

    /** An announcement was heard. */
    heard({ name, id, kind, endpoint, at }) {
        let run = this.#find(endpoint, id);
        if (run?.deadAt !== undefined && at > run.deadAt + PROMPT_MS) {
            this.#fault(`${endpoint} ${id} says ${kind} after its end`);
        }
        if (kind === 'down') {
            if (run) {
                // It may be said several times.
                run.downAt ??= at;
            }
            return;
        }
        if (!run) {
            run = { id, name, firstUp: at, lastUp: at };
            this.#remember(endpoint, run);
        }
        if (run.downAt !== undefined) {
            this.#fault(`${endpoint} ${id} says up after its down`);
        }
        this.#noteGap(endpoint, run, at);
        run.lastUp = at;
    }

    /** A broker said that it announces itself, or has left, or was killed; it must be heard so. */
    done(what, { endpoint, id, at }) {
        if (what === 'crash') {
            const run = this.#find(endpoint, id);
            if (run) {
                run.deadAt = at;
            }
            return;
        }
        this.#later(at, () => {
            const run = this.#find(endpoint, id);
            if (what === 'join' ? !run : run?.downAt === undefined) {
                this.#fault(`${what} of ${endpoint} ${id} was never heard`);
            }
        });
    }

    /** A manager emitted an event. */
    told(name, { event, endpoint, id, type, at }) {
        const member = this.#members.get(name);
        this.#later(at, () => this.#judge(member, { event, endpoint, id, type, at }));
    }

    /** A manager's `servers` were read: endpoints and guids. */
    seen(name, { at, servers }) {
        const member = this.#members.get(name);
        this.#later(at, () => this.#compare(member, at, new Map(servers)));
    }

    /** Something is wrong that others have found. */
    complain(line) {
        this.#fault(line);
    }

    /** Judges what is old enough by now. */
    settle(now) {
        const due = this.#waiting.findIndex(({ at }) => at > now - SETTLED_MS);
        const ready = this.#waiting.splice(0, due < 0 ? this.#waiting.length : due);
        ready.forEach(({ judge }) => judge());
    }

    #later(at, judge) {
        const place = this.#waiting.findLastIndex(other => other.at <= at);
        this.#waiting.splice(place + 1, 0, { at, judge });
    }

    #judge(member, { event, endpoint, id, type, at }) {
        const run = this.#find(endpoint, id);
        const who = `${member.name}: ${event} of ${endpoint} ${id}`;
        const known = member.view.get(endpoint);

        if (!run) {
            return this.#fault(`${who}, which was never announced`);
        }
        if (member.only !== undefined && member.only !== run.name) {
            return this.#fault(`${who}, although it is called ${run.name}`);
        }
        if (event === 'remove') {
            member.view.delete(endpoint);
            if (known !== id) {
                this.#fault(`${who}, which it knew as ${known}`);
            }
            return type === 'down'
                ? this.#judgeLeave(who, run, at)
                : this.#judgeEviction(who, member, run, at);
        }
        member.view.set(endpoint, id);
        if ((event === 'add') !== (known === undefined)) {
            this.#fault(`${who}, which it knew as ${known}`);
        }
        const since = Math.max(run.firstUp, member.since);
        this.#time(event === 'add' ? 'join' : 'restart', who, at - since, JOIN_MS);
    }

    #judgeLeave(who, run, at) {
        if (run.downAt === undefined) {
            return this.#fault(`${who}, which never said down`);
        }
        this.#time('leave', who, at - run.downAt, PROMPT_MS);
    }

    #judgeEviction(who, member, run, at) {
        const late = at - this.#deadline(member, run);
        if (run.downAt !== undefined) {
            return this.#fault(`${who} as silent, which said down`);
        }
        if (late < -this.#early) {
            return this.#fault(`${who}, ${Math.round(-late)} ms before its deadline`);
        }
        this.#time('evict', who, late, PROMPT_MS);
    }

    /** At every endpoint, what a manager has is what it must have, or may have at that moment. */
    #compare(member, at, servers) {
        this.checked += 1;
        for (const [endpoint, runs] of this.#runs) {
            const past = runs.filter(run => run.firstUp <= at + this.#early);
            const allowed = this.#allowed(member, past, at);
            const has = servers.get(endpoint);

            servers.delete(endpoint);
            if (!allowed.has(has)) {
                const wanted = [...allowed].join(' or ');
                this.#fault(`${member.name}: has ${has} at ${endpoint} and not ${wanted}`);
            }
        }
        for (const [endpoint, id] of servers) {
            this.#fault(`${member.name}: has ${id} at ${endpoint}, which was never announced`);
        }
    }

    /** The guids that a manager may have at an endpoint; `undefined` is none. */
    #allowed(member, runs, at) {
        const run = runs.at(-1);
        if (!run || (member.only !== undefined && member.only !== run.name)) {
            return new Set([undefined]);
        }
        const goneAt = run.downAt ?? this.#deadline(member, run);
        if (at > goneAt + PROMPT_MS + this.#slack) {
            return new Set([undefined]);
        }
        if (at > goneAt - this.#early) {
            return new Set([undefined, run.id]);
        }
        if (at > Math.max(run.firstUp, member.since) + JOIN_MS + this.#slack) {
            return new Set([run.id]);
        }
        return new Set([undefined, run.id, runs.at(-2)?.id]);
    }

    #deadline(member, run) {
        return run.lastUp + this.#interval + member.correction + 1;
    }

    #noteGap(endpoint, run, at) {
        if (at > run.lastUp) {
            const more = at - run.lastUp - this.#interval;
            this.#time('gap', `${endpoint} ${run.id}: pause between announcements`, more, JOIN_MS);
        }
    }

    #time(what, who, delay, limit) {
        this.delays[what].push(delay);
        if (delay > limit + this.#slack) {
            this.#fault(`${who}: ${Math.round(delay)} ms late`);
        }
    }

    #find(endpoint, id) {
        return this.#runs.get(endpoint)?.find(run => run.id === id);
    }

    #remember(endpoint, run) {
        const runs = this.#runs.get(endpoint) ?? [];
        runs.push(run);
        this.#runs.set(endpoint, runs.slice(-RUNS));
    }

    #fault(line) {
        this.faultCount += 1;
        if (this.faults.length < FAULTS) {
            this.faults.push(line);
            this.#onFault(line);
        }
    }
}

module.exports = { JOIN_MS, PROMPT_MS, SETTLED_MS, Truth };
