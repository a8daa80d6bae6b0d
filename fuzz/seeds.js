'use strict';

// `node fuzz/seeds.js` writes what fuzzing starts from: every row of the fixture table for the
// reader, and for the tracker the same rows in stories, and a story for each rule of
// docs/protocol.md. Run it when the table, the rules or the format of stories (script.rs in
// crates/core/tests/model/story) change, and commit what it writes.

const { mkdirSync, rmSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

const rows = require('../__test__/fixtures/datagrams.json');

/** As in script.rs: what stands in the low half of a step's first byte. */
const UP = 0, DOWN = 6, DRAIN = 8, JUDGE = 9, DUE = 10, WAIT = 11, STALL = 13, CLOCK = 14, LINE = 15;
const INTERVALS = ['1', '0', '0.5', '3', '200000'];
/** What a length or a count of milliseconds has room in. */
const BYTE = 255;
/** Stories longer than this are split: scripts/fuzz.sh keeps to 1 KiB. */
const STORY = 900;

const step = (what, variant = 0, ...rest) => [what | variant << 4, ...rest];
const at = (id, address) => id + 4 * address;
const up = (id, address, interval = '1') => step(UP, INTERVALS.indexOf(interval), at(id, address));
const foreign = (id, address) => step(UP, 15, at(id, address));
const down = (id, address) => step(DOWN, 0, at(id, address));
const drain = () => step(DRAIN);
const joins = () => step(DRAIN, 15);
const judge = () => step(JUDGE);
const due = past => step(DUE, past);
/** Times are multiples of 40 ms, up to 10 s. */
const wait = ms => step(WAIT, 0, ms / 40);
const stall = ms => step(STALL, 0, ms / 40);
const turnBack = ms => step(CLOCK, 0, ms / 40);
const leap = bit => step(CLOCK, 8, bit);
const line = bytes => step(LINE, 15, bytes.length, ...bytes);
/** `alive` picks the alive check: 0 is 5 s, 3 is 300 ms, 5 is none beyond the interval, 7 is off. */
const setting = (maxServers = 7, alive = 0, picky = false) => [alive + 8 * maxServers + (picky ? 192 : 0)];

const STORIES = {
    'rule-1-add': [setting(), up(0, 0), drain(), up(1, 1), joins(), drain()],
    'rule-2-heartbeat': [setting(), up(0, 0), wait(1000), up(0, 0), wait(5000), up(0, 0, '3'), wait(8000)],
    'rule-3-restart': [setting(), up(0, 0), drain(), up(1, 0), up(0, 0), down(0, 0), drain(), up(2, 0)],
    'rule-3-back': [
        setting(), up(0, 0, '3'), up(1, 0), wait(3000), up(0, 0, '3'), wait(4000), drain(),
        up(1, 0), down(1, 0), wait(4000), drain(),
    ],
    'rule-3-joins-two': [setting(), up(0, 0), up(1, 1), up(0, 1), drain(), wait(1000), up(0, 0), wait(6000)],
    'rule-4-standby': [setting(), up(0, 0), up(0, 1), up(0, 2, '3'), wait(8000), drain()],
    'rule-5-moved': [setting(), up(0, 0), wait(3000), up(0, 1), up(0, 2), wait(4000), drain(), wait(4000)],
    'rule-5-edge': [setting(7, 5), up(0, 0), due(0), judge(), due(1), judge(), stall(1000), due(0), judge()],
    'rule-6-down': [setting(), up(0, 0), up(0, 1), down(0, 0), drain(), up(0, 1), drain()],
    'rule-7-strangers': [setting(), up(0, 0), down(1, 0), down(1, 1), drain()],
    'rule-8-late-up': [setting(), up(0, 0), down(0, 0), up(0, 0), up(1, 0), up(0, 0), wait(1000), up(0, 0)],
    'rule-9-standby-again': [setting(), up(0, 0), up(0, 1), down(0, 0), up(1, 1), up(0, 0), drain()],
    'rule-10-full': [setting(2), up(0, 0), up(1, 1), up(2, 2), up(3, 3), down(0, 0), up(2, 2), up(3, 3)],
    'rule-10-no-room': [setting(0), up(0, 0), down(0, 0), wait(1000)],
    'rule-11-no-alive-check': [setting(7, 7), up(0, 0), leap(20), judge(), down(0, 0), drain()],
    'rule-12-stalled': [setting(7, 3), up(0, 0), up(1, 1, '3'), stall(9000), judge(), up(0, 0), wait(5000)],
    'clock-backwards': [setting(), wait(9000), up(0, 0), turnBack(5000), up(0, 0), judge(), wait(6000)],
    'clock-leaps': [setting(), up(0, 0, '200000'), leap(17), judge(), leap(40), up(1, 1), leap(63), judge()],
    'intervals-shrink': [setting(7, 3), ...INTERVALS.toReversed().map(interval => up(0, 0, interval)), wait(9000)],
    names: [setting(7, 0, true), foreign(0, 0), up(0, 0), foreign(1, 0), drain()],
};

write('datagram', rows.map(({ title, hex }) => [slug(title), Buffer.from(hex, 'hex')]));
write('fleet', [
    ...Object.entries(STORIES).map(([title, steps]) => [title, Buffer.from(steps.flat())]),
    ...rowStories(),
]);

/** The rows, one after the other with a pause after each, as few stories as hold them. */
function rowStories() {
    const stories = [];
    for (const { hex } of rows) {
        const bytes = [...Buffer.from(hex, 'hex')];
        if (bytes.length > BYTE) {
            continue;
        }
        const steps = [...line(bytes), ...wait(1000)];
        if (!stories.length || stories.at(-1).length + steps.length > STORY) {
            stories.push(setting());
        }
        stories.at(-1).push(...steps);
    }
    return stories.map((bytes, number) => [`rows-${number + 1}`, Buffer.from(bytes)]);
}

function write(target, seeds) {
    const folder = join(__dirname, 'seeds', target);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    seeds.forEach(([name, bytes]) => writeFileSync(join(folder, name), bytes));
    console.log(`${seeds.length} seeds in ${folder}`);
}

function slug(title) {
    return title.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '');
}
