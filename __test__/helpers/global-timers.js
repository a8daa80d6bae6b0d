'use strict';

/**
 * Takes the place of `node:timers` in specs with fake timers: what the library has put off then
 * depends on their clock.
 *
 *     jest.mock('node:timers', () => require('./helpers/global-timers.js'));
 */
const timers = jest.requireActual('node:timers');
const names = Object.keys(timers).filter(name => /^(?:set|clear)/.test(name));

module.exports = {
    ...timers,
    ...Object.fromEntries(names.map(name => [name, (...args) => globalThis[name](...args)])),
};
