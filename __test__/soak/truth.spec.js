'use strict';

const { SETTLED_MS, Truth } = require('./truth.js');

const INTERVAL_MS = 1000;
const CORRECTION_MS = 2000;
const DEADLINE_MS = INTERVAL_MS + CORRECTION_MS + 1;
const SLACK_MS = 100;

/** A broker that announces itself, a manager that is told of it, and who judges both. */
class World {
    #endpoint = '10.0.0.1:6379';
    #truth = new Truth({ interval: INTERVAL_MS, slack: SLACK_MS });

    constructor() {
        this.#truth.addMember('m', { at: 0, correction: CORRECTION_MS });
    }

    up(at, id = 'a') {
        return this.#heard('up', at, id);
    }

    down(at, id = 'a') {
        return this.#heard('down', at, id);
    }

    done(what, at, id = 'a') {
        this.#truth.done(what, { endpoint: this.#endpoint, id, at });
        return this;
    }

    told(event, at, id = 'a', type = 'up') {
        this.#truth.told('m', { event, endpoint: this.#endpoint, id, type, at });
        return this;
    }

    seen(at, ...ids) {
        this.#truth.seen('m', { at, servers: ids.map(id => [this.#endpoint, id]) });
        return this;
    }

    get faults() {
        this.#truth.settle(1_000_000 + SETTLED_MS);
        return this.#truth.faults;
    }

    #heard(kind, at, id) {
        this.#truth.heard({ name: 'n', id, kind, endpoint: this.#endpoint, at });
        return this;
    }
}

/** A broker that is up and known. */
const known = () => new World().up(1000).told('add', 1001);

describe('the judge of the soak', () => {
    it.each([
        ['a broker that lives and leaves', known().seen(2500, 'a').up(2000).up(3000)
            .down(3500).told('remove', 3501, 'a', 'down').seen(4000)],
        ['one that crashes', known().done('crash', 1500).told('remove', 1000 + DEADLINE_MS + 20)
            .seen(3900, 'a').seen(4300)],
        ['one that is back before its deadline', known().up(2500, 'b').told('update', 2501, 'b')
            .seen(2600, 'b').up(3500, 'b').seen(4000, 'b')],
        ['one that was not told of yet', new World().up(1000).seen(1900)],
    ])('should find no fault with %s', (_, world) => {
        expect(world.faults).toEqual([]);
    });

    it.each([
        ['a broker that is removed while it announces', known().up(2000).up(3000).up(4000)
            .told('remove', 4100), 'before its deadline'],
        ['one that is removed early', known().told('remove', 3500), 'before its deadline'],
        ['one that is removed late', known().told('remove', 1000 + DEADLINE_MS + 250), 'late'],
        ['one that is never removed', known().seen(1000 + DEADLINE_MS + 250, 'a'), 'has a at'],
        ['one that is never added', new World().up(1000).up(2000).seen(2200), 'has undefined at'],
        ['one that is added late', new World().up(1000).told('add', 2200), 'late'],
        ['one that is added twice', known().told('add', 1100), 'which it knew as a'],
        ['one that is lost without a word', known().up(2000).seen(2500), 'has undefined at'],
        ['one that left and is kept', known().down(1500).seen(1750, 'a'), 'has a at'],
        ['one that is removed as one that left', known().told('remove', 1500, 'a', 'down'), 'never said'],
        ['a restart that is not noticed', known().up(2000, 'b').up(3000, 'b').seen(3200, 'a'), 'not b'],
        ['a broker that nobody announced', new World().told('add', 1000), 'never announced'],
        ['what is there and was never announced', new World().seen(1000, 'a'), 'never announced'],
        ['a broker that is not heard', new World().done('join', 1000), 'never heard'],
        ['a goodbye that is not heard', known().done('leave', 1500), 'never heard'],
        ['a pause between announcements', known().up(3200), 'late'],
        ['an announcement of the dead', known().done('crash', 1500).up(2000), 'after its end'],
        ['an announcement after the goodbye', known().down(1500).up(1600), 'after its down'],
    ])('should find %s', (_, world, fault) => {
        expect(world.faults).toEqual([expect.stringContaining(fault)]);
    });
});
