'use strict';

// Not the global ones, which fake timers of tests replace, and of which jsdom makes numbers.
const { clearTimeout, setTimeout } = require('node:timers');

/** How long further lines of a cause are held back after one was written. */
const QUIET_MS = 60_000;

/**
 * How long the same line of another manager is its echo. Managers with equal options are told the
 * same things at the same time, and one line of it is enough.
 */
const ECHO_MS = 1000;

/** Logger to the lines that were written to it just now, each with when and by whom. */
const recentLines = new WeakMap();

/**
 * Writes to a user's logger: at most one line per cause and minute, with a count of what was held
 * back meanwhile.
 *
 * A timer runs only while something is held back, and never keeps the process up. A logger that
 * throws is not allowed to disturb what it was told about.
 */
class ThrottledLogger {
    #logger;
    #prefix;
    /** Cause to what happened to it since its last line. */
    #causes = new Map();

    /**
     * @param {{ info: Function, warn: Function, error: Function }} logger - where lines go
     * @param {string} prefix - what every line starts with
     */
    constructor(logger, prefix) {
        this.#logger = logger;
        this.#prefix = prefix;
    }

    /**
     * Writes a line now.
     *
     * @param {'info' | 'warn' | 'error'} level
     * @param {string} message
     */
    write(level, message) {
        const line = `${this.#prefix}: ${message}`;
        if (this.#isEcho(line)) {
            return;
        }
        try {
            this.#logger[level](line);
        } catch {
            // There is nobody left to tell.
        }
    }

    /**
     * Writes a line unless its cause had one within the last minute.
     *
     * @param {'info' | 'warn' | 'error'} level
     * @param {string} cause - short and from a fixed set, since each one is remembered
     * @param {string} message
     */
    report(level, cause, message) {
        const now = monotonicMs();
        const state = this.#causes.get(cause);

        if (state && now < state.quietUntil) {
            state.held += 1;
            state.level = level;
            state.message = message;
            state.timer ??= setTimeout(() => this.#release(cause), state.quietUntil - now).unref();
            return;
        }
        this.#remember(cause, now);
        this.write(level, message);
    }

    /** Writes what is held back, and forgets every cause. */
    flush() {
        for (const cause of [...this.#causes.keys()]) {
            this.#release(cause);
        }
        this.#causes.clear();
    }

    #release(cause) {
        const { held, level, message, timer } = this.#causes.get(cause);

        clearTimeout(timer);
        this.#remember(cause, monotonicMs());
        if (held > 0) {
            const others = held > 1 ? ` (and ${held - 1} more like it within a minute)` : '';
            this.write(level, message + others);
        }
    }

    #isEcho(line) {
        const now = monotonicMs();
        const lines = recentLines.get(this.#logger) ?? new Map();
        recentLines.set(this.#logger, lines);

        for (const [old, { at }] of lines) {
            if (now - at < ECHO_MS) {
                break;
            }
            lines.delete(old);
        }
        const recent = lines.get(line);
        if (!recent) {
            lines.set(line, { at: now, writer: this });
        }
        return recent !== undefined && recent.writer !== this;
    }

    #remember(cause, now) {
        this.#causes.set(cause, { held: 0, quietUntil: now + QUIET_MS });
    }
}

/** Not `performance.now()`: Node.js takes a millisecond to load that when it is first used. */
function monotonicMs() {
    const [seconds, nanoseconds] = process.hrtime();
    return seconds * 1000 + nanoseconds / 1e6;
}

exports.ThrottledLogger = ThrottledLogger;
