'use strict';

// `npm run bench:chart [RESULTS.json] [CHART.svg]`: draws the table of a run, by default the newest
// of bench/results/ as docs/bench.svg.
//
// Each bar says how much is used of what the target allows: the line is the target, and what ends
// before it holds. So rows of different units can be compared, and shorter is better in all of them.
// What has no target, or could not be judged, has no bar.

const { readFileSync, readdirSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

const { formatRow } = require('./table');

const WIDTH = 1000;
const ROW = 24;
const TOP = 104;
const TITLE_AT = 16;
const BAR_AT = 330;
/** How long a bar is that just reaches its target. */
const BAR_LENGTH = 220;
/** A bar is cut off where it is so many times too long. */
const LONGEST = 1.25;
const TEXT_AT = BAR_AT + BAR_LENGTH * LONGEST + 16;
const COLORS = { true: '#2da44e', false: '#cf222e' };

try {
    const [file = newest(), chart = join(__dirname, '..', 'docs', 'bench.svg')] = process.argv.slice(2);
    writeFileSync(chart, draw(read(file)));
    console.log(`${file} is drawn in ${chart}`);
} catch (error) {
    console.error(`bench:chart: ${error.message}`);
    process.exitCode = 2;
}

function newest() {
    const folder = join(__dirname, 'results');
    const name = readdirSync(folder).filter(entry => entry.endsWith('.json')).sort().at(-1);

    if (!name) {
        throw new Error('there are no results yet: npm run bench');
    }
    return join(folder, name);
}

function read(file) {
    const text = readFileSync(file, 'utf8');
    try {
        const run = JSON.parse(text);
        // Fails for whatever else may be in a file.
        run.rows.forEach(formatRow);
        return run;
    } catch {
        throw new Error(`${file} is not what npm run bench writes`);
    }
}

function draw(run) {
    const { rows } = run;
    const height = TOP + rows.length * ROW + 40;
    const line = BAR_AT + BAR_LENGTH;

    return [
        `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img"`,
        '    font-family="system-ui, sans-serif" font-size="13">',
        `<title>${escape(summary(rows))}</title>`,
        `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
        text(TITLE_AT, 28, 'imqueue-udp-cluster, measured', 'font-size="18" font-weight="600"'),
        ...describe(run).map((part, place) => text(TITLE_AT, 50 + place * 20, part, 'fill="#57606a"')),
        text(line, TOP - 10, 'target', 'text-anchor="middle" fill="#57606a"'),
        ...rows.map((row, place) => drawRow(row, TOP + place * ROW)),
        `<line x1="${line}" y1="${TOP - 4}" x2="${line}" y2="${height - 34}"`
            + ' stroke="#1f2328" stroke-dasharray="3 3"/>',
        text(TITLE_AT, height - 14, `${summary(rows)}. Shorter is better in all of them.`, ''),
        '</svg>',
        '',
    ].join('\n');
}

function drawRow(row, top) {
    const [title, ours, against, , target] = formatRow(row);
    const values = [ours, ...against ? [`against ${against}`] : [], ...target ? [`(${target})`] : []];

    return [
        text(TITLE_AT, top + 16, title, ''),
        ...isJudged(row) ? [drawBar(row, top)] : [],
        text(TEXT_AT, top + 16, values.join(' '), 'fill="#57606a"'),
    ].join('\n');
}

function drawBar(row, top) {
    const share = Math.min(Math.max(shareOf(row), 0.004), LONGEST);

    return `<rect x="${BAR_AT}" y="${top + 5}" width="${(share * BAR_LENGTH).toFixed(1)}" height="14"`
        + ` rx="2" fill="${COLORS[row.holds]}"/>`;
}

/** How much is used of what the target allows. */
function shareOf({ ours, ratio, target }) {
    const shares = [
        ...target.ratio === undefined ? [] : [(ratio ?? Infinity) / target.ratio],
        ...target.most === undefined ? [] : [ours.median === 0 ? 0 : ours.median / target.most],
    ];
    return Math.max(0, ...shares);
}

function describe({ commit, date, kernel, machine, node, peer, trials }) {
    return [
        [date.slice(0, 10), commit, `peer: ${peer}`, `${trials} trials`].join(' · '),
        [machine, kernel, `Node.js ${node}`].join(' · '),
    ];
}

function summary(rows) {
    const judged = rows.filter(isJudged);

    return `${judged.filter(({ holds }) => holds).length} of ${judged.length} targets hold`;
}

function isJudged({ holds }) {
    return typeof holds === 'boolean';
}

function text(x, y, content, attributes) {
    return `<text x="${x}" y="${y}" ${attributes}>${escape(content)}</text>`;
}

function escape(content) {
    return content.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}
