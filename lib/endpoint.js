'use strict';

const { isIPv6 } = require('node:net');

/** `host:port` or `[v6]:port`; the host is what connects, without brackets. */
const ENDPOINT = /^(?:\[(?<v6>[^\]]+)\]|(?<host>[^\s:[\]]+))(?::(?<port>\d{1,5}))?$/;

/**
 * Reads an address as it is written in settings.
 *
 * @param {string} text - `host:port`, with IPv6 in brackets
 * @param {number} [defaultPort] - makes the port optional
 * @returns {{ host: string, port: number } | undefined} `undefined` when it is malformed
 */
function readEndpoint(text, defaultPort) {
    const { v6, host = v6, port = defaultPort } = ENDPOINT.exec(text)?.groups ?? {};
    const number = Number(port);
    const right = host !== undefined
        && (v6 === undefined || isIPv6(v6))
        && number >= 1
        && number <= 65535;

    return right ? { host, port: number } : undefined;
}

exports.readEndpoint = readEndpoint;
