'use strict';

const { readByOriginal } = require('./original-model.js');
const { readByRules } = require('./rules-reader.js');

/** How the two read a datagram differently; `undefined` where it comes to the same. */
function wireReason(bytes) {
    const theirs = readByOriginal(bytes);
    const { server: ours, rejected } = readByRules(bytes);

    if (!theirs) {
        return 'fewer than three fields';
    }
    if (!['up', 'down'].includes(theirs.type)) {
        return undefined;
    }
    if (rejected) {
        return rejected === 'fields' ? 'three fields' : `wire: ${rejected}`;
    }
    if (theirs.host !== ours.host) {
        return ours.host.includes(':') ? 'wire: IPv6' : 'wire: space';
    }
    const isOther = theirs.type === 'up' && theirs.timeout !== ours.timeout;
    return isOther ? 'wire: long interval' : undefined;
}

exports.wireReason = wireReason;
