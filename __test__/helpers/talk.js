'use strict';

// How a process that a test started as a `Program` talks to it.

const { createInterface } = require('node:readline');

const { monotonicNow } = require('./program.js');

/** Prints an event, with the time. */
function print(event, more) {
    process.stdout.write(`${JSON.stringify({ event, at: monotonicNow(), ...more })}\n`);
}

/**
 * Answers each line on standard input with what the function of that name returns, which gets the
 * rest of the line. Resolves when standard input ends.
 */
async function answerQuestions(functions) {
    for await (const line of createInterface({ input: process.stdin })) {
        const [name, ...args] = line.split(' ');
        print('answer', functions[name](...args));
    }
}

module.exports = { answerQuestions, print };
