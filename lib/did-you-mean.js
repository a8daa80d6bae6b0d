'use strict';

/** So many letters may differ. */
const TOLERANCE = 2;

/**
 * Finds what a misspelt name was meant to be.
 *
 * @param {string} name - what was written
 * @param {string[]} candidates - what exists
 * @returns {string | undefined} the closest candidate, if one is close
 */
function didYouMean(name, candidates) {
    let best;
    let bestDistance = TOLERANCE + 1;

    for (const candidate of candidates) {
        const distance = distanceBetween(name.toLowerCase(), candidate.toLowerCase());
        if (distance < bestDistance) {
            [best, bestDistance] = [candidate, distance];
        }
    }
    return best;
}

/** How many letters to insert, drop or replace (Levenshtein). */
function distanceBetween(a, b) {
    let row = Array.from({ length: b.length + 1 }, (_, index) => index);

    for (let i = 1; i <= a.length; i += 1) {
        const next = [i];
        for (let j = 1; j <= b.length; j += 1) {
            const replaced = row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
            next.push(Math.min(row[j] + 1, next[j - 1] + 1, replaced));
        }
        row = next;
    }
    return row[b.length];
}

exports.didYouMean = didYouMean;
