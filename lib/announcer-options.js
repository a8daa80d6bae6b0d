'use strict';

const { isIPv6 } = require('node:net');
const { randomUUID } = require('node:crypto');

const check = require('./checks.js');
const { MAX_NAME_BYTES, unknownOptions, withDefaults } = require('./options.js');
const { readEndpoint } = require('./endpoint.js');

/** Longer ones are dropped by whoever listens. */
const MAX_HOST_BYTES = 253;
const MAX_ID_BYTES = 128;

/** Listeners count longer intervals as one day. */
const MAX_INTERVAL_S = 86_400;
const MIN_INTERVAL_S = 0.01;

const LISTENING_PORT = 63000;
const EVERYONE = `255.255.255.255:${LISTENING_PORT}`;

const DEFAULTS = { destinations: [], interval: 1, logger: console, name: 'imq-broker' };
const OPTION_NAMES = [...Object.keys(DEFAULTS), 'host', 'id', 'port', 'transport'];

/**
 * Turns the options of an announcer into what the native one takes.
 *
 * @param {object} given - options as the user wrote them
 * @returns {{ logger: object, settings: object, warnings: string[] }} clean settings, and what is
 *     to be logged about the options
 * @throws {TypeError} when an option has the wrong type
 * @throws {RangeError} when an option is out of range
 */
function readAnnouncerOptions(given) {
    const named = check.options(given, 'options of Announcer');
    const options = withDefaults(named, { ...DEFAULTS, id: randomUUID() });
    const { destinations, host, id, interval, name, port, transport } = options;

    return {
        logger: check.methods(options.logger, 'option "logger"', ['log', 'info', 'warn', 'error']),
        settings: {
            host: readHost(host),
            port: check.integer(port, 'option "port"', 1, 65535),
            name: check.text(name, 'option "name"', MAX_NAME_BYTES),
            id: check.text(id, 'option "id"', MAX_ID_BYTES),
            interval: readInterval(interval),
            transport: transport === undefined
                ? null
                : check.oneOf(transport, 'option "transport"', ['plain', 'tls']),
            destinations: readDestinations(destinations),
        },
        warnings: unknownOptions(named, OPTION_NAMES),
    };
}

function readHost(host) {
    check.text(host, 'option "host"', MAX_HOST_BYTES);
    if (/[\s:[\]]/.test(host) && !isIPv6(host)) {
        check.wrongValue('option "host"', 'a host name or an IP address without port', host);
    }
    return host;
}

function readInterval(interval) {
    return check.number(interval, 'option "interval"', MIN_INTERVAL_S, MAX_INTERVAL_S, 'seconds');
}

function readDestinations(destinations) {
    const expected = "an array of 'host[:port]'";
    if (!Array.isArray(destinations)) {
        check.wrongType('option "destinations"', expected, destinations);
    }
    destinations.forEach((destination, index) => {
        const name = `option "destinations[${index}]"`;
        if (typeof destination !== 'string') {
            check.wrongType(name, "'host[:port]'", destination);
        }
        if (!readEndpoint(destination, LISTENING_PORT)) {
            check.wrongValue(name, "'host[:port]', with IPv6 in brackets", destination);
        }
    });
    return destinations.length > 0 ? [...destinations] : [EVERYONE];
}

exports.readAnnouncerOptions = readAnnouncerOptions;
