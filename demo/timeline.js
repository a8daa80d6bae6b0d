'use strict';

const { now } = require('./support/clock');

/** Tells the story on standard output, line by line as it happens. */
class Timeline {
    #start = now();

    /** Sets the clock to zero. */
    begin() {
        this.#start = now();
    }

    /** A line without a time. */
    note(text) {
        console.log(text);
    }

    /** Something that was done to the fleet. */
    cause(text, at = now()) {
        this.#line(at, text);
    }

    /** What came of it: when the client and the service noticed. */
    effect(text, [client, service], since, what) {
        const delays = [client.at, service.at].map(at => milliseconds(at - since));

        this.#line(
            Math.max(client.at, service.at),
            `  ${text.padEnd(12)}  client ${delays[0]}, service ${delays[1]} after ${what}`,
        );
    }

    /** How the calls went in the last second. */
    second({ shares, slowest, refused, overdue }) {
        const total = shares.reduce((sum, [, count = 0]) => sum + count, 0);
        const columns = shares.map(([name, count = '-']) => `${name} ${count}`.padEnd(6));
        const trouble = [
            refused > 0 && `, ${refused} refused`,
            overdue > 0 && `, ${overdue} without answer`,
        ];

        this.#line(now(), [
            `  ${String(total).padStart(4)} calls/s`,
            columns.join(' ').padEnd(28),
            ['slowest ', milliseconds(slowest), ...trouble.filter(Boolean)].join(''),
        ].join('   '));
    }

    #line(at, text) {
        const seconds = ((at - this.#start) / 1000).toFixed(2);

        console.log(`${seconds.padStart(6)} s  ${text}`);
    }
}

function milliseconds(duration) {
    return `${duration < 100 ? duration.toFixed(1) : Math.round(duration)} ms`;
}

exports.Timeline = Timeline;
