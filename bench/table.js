'use strict';

const HEADER = ['metric', 'ours', 'against', 'ratio', 'target', 'holds'];

/** The rows as text, one below the other. */
function formatTable(rows) {
    const cells = [HEADER, ...rows.map(formatRow)];
    const widths = HEADER.map((_, column) => Math.max(...cells.map(row => row[column].length)));
    const lines = cells.map(row => row.map((cell, at) => cell.padEnd(widths[at])).join('  '));
    const rule = widths.map(width => '─'.repeat(width)).join('  ');

    return [lines[0], rule, ...lines.slice(1)].map(line => line.trimEnd()).join('\n');
}

/** A row as texts, in the order of the header. */
function formatRow({ title, unit, ours, against, ratio, target, holds }) {
    return [
        title,
        formatValue(ours.median, unit),
        against ? `${formatValue(against.median, unit)} ${against.label}` : '',
        ratio === undefined ? '' : formatRatio(ratio),
        target ? formatTarget(target, unit) : '',
        holds === undefined ? '–' : holds ? 'yes' : 'NO',
    ];
}

function formatTarget({ ratio, most, loses }, unit) {
    const parts = [
        ...ratio === undefined ? [] : [`≤ ${formatLimit(ratio)}`],
        ...most === undefined ? [] : [most === 0 ? '0' : `≤ ${formatValue(most, unit)}`],
        ...loses ? ['peer more'] : [],
    ];
    return parts.join(', ');
}

function formatLimit(ratio) {
    const inverse = Math.round(10 / ratio) / 10;

    return ratio < 0.3 ? `1/${inverse}` : String(ratio);
}

function formatRatio(ratio) {
    return ratio > 0 && ratio < 0.095 ? `1/${(1 / ratio).toFixed(0)}` : ratio.toFixed(2);
}

function formatValue(value, unit) {
    const size = Math.abs(value);
    const digits = Number.isInteger(value) || size >= 100 ? 0 : size >= 10 ? 1 : 2;

    return `${value.toFixed(digits)}${unit ? ` ${unit}` : ''}`;
}

module.exports = { formatRow, formatTable };
