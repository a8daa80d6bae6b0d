'use strict';

const { inspect } = require('node:util');
const { isIPv4 } = require('node:net');

/**
 * Checks of single option values.
 *
 * Each takes the value and what to call it, returns the value when it is right, and otherwise
 * throws a `TypeError` (wrong type) or a `RangeError` (wrong value) that names the option, what was
 * expected and what was given.
 */

function boolean(value, name) {
    return typeof value === 'boolean' ? value : wrongType(name, 'a boolean', value);
}

function integer(value, name, min, max) {
    const expected = `an integer from ${min} to ${max}`;
    if (typeof value !== 'number') {
        wrongType(name, expected, value);
    }
    const right = Number.isInteger(value) && value >= min && value <= max;
    return right ? value : wrongValue(name, expected, value);
}

function number(value, name, min, max, unit) {
    const expected = `a number of ${unit} from ${min} to ${max}`;
    if (typeof value !== 'number') {
        wrongType(name, expected, value);
    }
    return value >= min && value <= max ? value : wrongValue(name, expected, value);
}

/** Text as datagrams carry it: not empty, not longer than readers accept, nothing invisible. */
function text(value, name, maxBytes) {
    const expected = `a string of 1 to ${maxBytes} bytes without control characters`;
    if (typeof value !== 'string') {
        wrongType(name, expected, value);
    }
    const fits = value !== '' && Buffer.byteLength(value) <= maxBytes;
    const right = fits && !/[\0-\x1f\x7f]/.test(value);
    return right ? value : wrongValue(name, expected, value);
}

function ipv4(value, name) {
    const expected = 'an IPv4 address in dotted form';
    if (typeof value !== 'string') {
        wrongType(name, expected, value);
    }
    return isIPv4(value) ? value : wrongValue(name, expected, value);
}

function oneOf(value, name, choices) {
    const expected = choices.map(choice => `'${choice}'`).join(' or ');
    if (typeof value !== 'string') {
        wrongType(name, expected, value);
    }
    return choices.includes(value) ? value : wrongValue(name, expected, value);
}

/** An object that has all of the methods. */
function methods(value, name, required) {
    const missing = required.filter(method => typeof value?.[method] !== 'function');
    if (missing.length === 0) {
        return value;
    }
    const expected = `an object with the functions ${required.join(', ')}`;
    return wrongType(name, expected, value, ` (missing: ${missing.join(', ')})`);
}

function options(value, name) {
    // The original takes null for nothing, too.
    if (value === undefined || value === null) {
        return {};
    }
    const right = typeof value === 'object' && !Array.isArray(value);
    return right ? value : wrongType(name, 'an object', value);
}

function wrongType(name, expected, value, more = '') {
    throw new TypeError(`${name} must be ${expected}, got ${show(value)}${more}`);
}

function wrongValue(name, expected, value) {
    throw new RangeError(`${name} must be ${expected}, got ${show(value)}`);
}

/** A value as one short line. */
function show(value) {
    const shown = inspect(value, { depth: 0, breakLength: Infinity, maxStringLength: 60 });
    return shown.split('\n')[0].slice(0, 100);
}

module.exports = {
    boolean,
    integer,
    ipv4,
    methods,
    number,
    oneOf,
    options,
    text,
    wrongType,
    wrongValue,
};
