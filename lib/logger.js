'use strict';

/** How long further lines of a cause are held back after one was written. */
const QUIET_MS = 60_000;

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
        try {
            this.#logger[level](`${this.#prefix}: ${message}`);
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
        const now = performance.now();
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
        this.#remember(cause, performance.now());
        if (held > 0) {
            const others = held > 1 ? ` (and ${held - 1} more like it within a minute)` : '';
            this.write(level, message + others);
        }
    }

    #remember(cause, now) {
        this.#causes.set(cause, { held: 0, quietUntil: now + QUIET_MS });
    }
}

exports.ThrottledLogger = ThrottledLogger;
