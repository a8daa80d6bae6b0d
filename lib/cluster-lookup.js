'use strict';

/** Where a cluster has a broker. */
const Place = Object.freeze({
    /** The cluster has it. */
    Here: 'here',
    /** The cluster has its id at another address, which has to go first. */
    Elsewhere: 'elsewhere',
    /** The cluster does not have it. */
    Nowhere: 'nowhere',
    /** The cluster has no `find` and cannot be asked. */
    Unknown: 'unknown',
});

/**
 * Asks a cluster for a broker.
 *
 * Clusters of `@imqueue/core` match by id or by address, so that the record found may be another
 * broker's than the one asked for.
 *
 * @param {object} cluster - what `init` was called with
 * @param {import('./server.js').Server} server
 * @returns {{ place: string, record?: object }} one of {@link Place}, and what was found; throws what
 *     `find` throws
 */
function locate(cluster, server) {
    if (typeof cluster.find !== 'function') {
        return { place: Place.Unknown };
    }
    const record = cluster.find(server.toRecord('up'), true);
    if (!record) {
        return { place: Place.Nowhere };
    }
    return { place: isAt(record, server) ? Place.Here : Place.Elsewhere, record };
}

/** A record that does not say where it is, is taken to be where it was looked for. */
function isAt({ host, port }, server) {
    return (host === undefined || host === server.host)
        && (port === undefined || Number(port) === server.port);
}

exports.Place = Place;
exports.locate = locate;
