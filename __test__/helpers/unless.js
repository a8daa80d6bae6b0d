'use strict';

const LINUX = process.platform === 'linux';

/**
 * `describe`, `it` or `test` as `declare`, if there is no reason against it: otherwise one that
 * skips, and says in the title why.
 */
function unless(reason, declare) {
    return reason
        ? (title, ...more) => declare.skip(`${title} (${reason})`, ...more)
        : declare;
}

/** The same for what can be tested on Linux only, for this reason. */
function onLinux(reason, declare) {
    return unless(!LINUX && reason, declare);
}

/** Why there can be no namespaces of that kind, if so. */
function noNamespaces(kind) {
    return !(LINUX && process.getuid() === 0) && `${kind} namespaces need root on Linux`;
}

module.exports = { noNamespaces, onLinux, unless };
