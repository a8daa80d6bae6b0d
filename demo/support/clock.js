'use strict';

/** Milliseconds of the monotonic clock, which all processes of a machine share. */
function now() {
    return Number(process.hrtime.bigint()) / 1e6;
}

exports.now = now;
