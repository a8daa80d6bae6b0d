'use strict';

/**
 * What was thrown, as text for the log. Anything can be thrown, also what cannot be made a string.
 *
 * @param {unknown} error
 * @param {{ stack?: boolean }} [options] - with the stack, where there is one
 */
function errorText(error, { stack = false } = {}) {
    try {
        return String((stack ? error?.stack : undefined) ?? error);
    } catch {
        return 'something that has no text was thrown';
    }
}

exports.errorText = errorText;
