'use strict';

const ON = new Set(['1', 'true', 'yes', 'on']);
const OFF = new Set(['0', 'false', 'no', 'off']);

/**
 * Reads an environment variable that switches something on or off.
 *
 * @param {Record<string, string | undefined>} env - where the variable is read from
 * @param {string} name - name of the variable
 * @param {boolean} unset - what a missing or empty variable means
 * @returns {{ value: boolean, warning?: string }} whether it is on; anything that is not one of
 *     1/true/yes/on or 0/false/no/off, in any case, is on and has a warning to be logged
 */
function readFlag(env, name, unset) {
    const text = (env[name] ?? '').trim();
    const word = text.toLowerCase();

    if (word === '') {
        return { value: unset };
    }
    if (ON.has(word) || OFF.has(word)) {
        return { value: ON.has(word) };
    }
    return {
        value: true,
        warning: `${name}=${JSON.stringify(text)} is neither 1/true/yes/on nor 0/false/no/off;`
            + ' it is taken as on',
    };
}

exports.readFlag = readFlag;
