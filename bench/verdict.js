'use strict';

/**
 * A row of a metric says what of the measurements it shows:
 *
 * - `ours`: the key of what our trials measured, `against`: that of what it is compared with, from
 *   the trials of the subject `of` (the peer, unless it says otherwise), which `label` names. Where
 *   those are the same trials, the ratio is the median of theirs: in each of them both sides met the
 *   same machine, which may be a quarter faster a minute later;
 * - `above`: a subject whose measurement is what the machine costs anyway, and is subtracted;
 * - `target`: `{ ratio }` at most of the other's, `{ most }` in itself, or both; `{ loses: true }`
 *   if it is not judged where both are 0, since nothing was shown then;
 * - `noisy`: a short trial on a busy machine cannot decide it.
 *
 * @param {object} metric
 * @param {Record<string, Record<string, number>[]>} samples - what `runTrials` returned
 * @param {boolean} quick - whether the trials were short
 */
function judge(metric, samples, quick) {
    return metric.rows.map(row => {
        const ours = summarize(samples.ours, row.ours, floorOf(row, samples));
        const against = samples[row.of ?? 'peer'] && row.against !== null
            ? summarize(samples[row.of ?? 'peer'], row.against ?? row.ours, floorOf(row, samples))
            : undefined;
        const ratio = against && ratioOf(ours, against, row.of === 'ours');
        const judged = row.target && !(quick && row.noisy)
            && !(row.target.loses && ours.median === 0 && against.median === 0);

        return {
            metric: metric.name,
            title: row.title,
            unit: row.unit,
            ours,
            against: against && { label: row.label ?? 'peer', ...against },
            ratio,
            target: row.target,
            holds: judged ? holds(row.target, ours.median, ratio) : undefined,
        };
    });
}

function ratioOf(ours, against, sameTrials) {
    // What is left when the cost of the machine is subtracted can be nothing, or less.
    if (against.median <= 0) {
        return undefined;
    }
    return sameTrials
        ? median(ours.samples.map((sample, trial) => sample / against.samples[trial]))
        : ours.median / against.median;
}

function holds({ ratio: limit, most }, ours, ratio) {
    return (most === undefined || ours <= most)
        && (limit === undefined || (ratio !== undefined && ratio <= limit));
}

function floorOf({ ours, above }, samples) {
    return above ? median(samples[above].map(sample => sample[ours])) : 0;
}

function summarize(samples, key, floor) {
    const values = samples.map(sample => sample[key] - floor);

    return { median: median(values), samples: values };
}

function median(values) {
    const sorted = [...values].sort((a, b) => a - b);
    const middle = sorted.length >> 1;

    return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

exports.judge = judge;
