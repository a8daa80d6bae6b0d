'use strict';

/** Says what is being done: in one line on a terminal, line by line elsewhere. */
class Progress {
    #start = Date.now();

    show(text) {
        const seconds = Math.round((Date.now() - this.#start) / 1000);
        const line = `[${String(seconds).padStart(4)} s] ${text}`;

        process.stderr.write(process.stderr.isTTY ? `\r\x1b[K${line}` : `${line}\n`);
    }

    clear() {
        process.stderr.write(process.stderr.isTTY ? '\r\x1b[K' : '\n');
    }
}

exports.Progress = Progress;
