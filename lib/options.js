'use strict';

const check = require('./checks.js');
const { didYouMean } = require('./did-you-mean.js');
const { readFlag } = require('./flag.js');

const EVERY_INTERFACE = '255.255.255.255';
/** Some 25 days: more can only be a mistake. */
const MAX_CORRECTION_MS = 2 ** 31;
const MAX_NAME_BYTES = 255;
const MAX_SERVERS = 1_000_000;

const aliveCheck = readFlag(process.env, 'IMQ_UDP_CLUSTER_MANAGER_ALIVE_CHECK', true);

/** Documented in index.d.ts. Not frozen: like the original's, it is read by each constructor. */
const DEFAULT_UDP_CLUSTER_MANAGER_OPTIONS = {
    port: 63000,
    address: EVERY_INTERFACE,
    aliveTimeoutCorrection: 5000,
    useAliveCheck: aliveCheck.value,
    handleSignals: true,
    logger: console,
    maxServers: 1024,
    relay: true,
};

const OPTION_NAMES = [
    ...Object.keys(DEFAULT_UDP_CLUSTER_MANAGER_OPTIONS),
    'limitedAddress',
    'name',
];

/**
 * Turns the options of a cluster manager into what the native listener takes.
 *
 * @param {object} [given] - options as the user wrote them
 * @returns {{ logger: object, settings: object, warnings: string[] }} clean settings, and what is
 *     to be logged about the options
 * @throws {TypeError} when an option has the wrong type
 * @throws {RangeError} when an option is out of range
 */
function readManagerOptions(given) {
    const named = check.options(given, 'options of RustUDPClusterManager');
    const options = withDefaults(named, DEFAULT_UDP_CLUSTER_MANAGER_OPTIONS);

    check.boolean(options.handleSignals, 'option "handleSignals"');

    const correction = check.number(
        options.aliveTimeoutCorrection,
        'option "aliveTimeoutCorrection"',
        0,
        MAX_CORRECTION_MS,
        'milliseconds',
    );
    const useAliveCheck = check.boolean(options.useAliveCheck, 'option "useAliveCheck"');

    return {
        logger: check.methods(options.logger, 'option "logger"', ['log', 'info', 'warn', 'error']),
        settings: {
            port: check.integer(options.port, 'option "port"', 1, 65535),
            address: readAddress(options),
            relay: check.boolean(options.relay, 'option "relay"'),
            correction: useAliveCheck ? correction : null,
            maxServers: check.integer(options.maxServers, 'option "maxServers"', 1, MAX_SERVERS),
            names: readNames(options.name),
        },
        warnings: [...unknownOptions(named, OPTION_NAMES), ...aliveCheckWarning(named)],
    };
}

/** What was given, and the default for what was not, or is `undefined`. */
function withDefaults(given, defaults) {
    const options = { ...defaults };
    for (const [name, value] of Object.entries(given)) {
        if (value !== undefined) {
            options[name] = value;
        }
    }
    return options;
}

/** The original reads "nothing" and the limited broadcast address itself as every interface. */
function readAddress({ address, limitedAddress }) {
    const limited = limitedAddress || EVERY_INTERFACE;
    const chosen = address === null || address === '' ? limited : address;

    checkAddress(limited, 'option "limitedAddress"');
    checkAddress(chosen, 'option "address"');
    return chosen === limited || chosen === '0.0.0.0' ? EVERY_INTERFACE : chosen;
}

/** The default is right, and spares its users what Node.js prepares for the first such check. */
function checkAddress(address, name) {
    if (address !== EVERY_INTERFACE) {
        check.ipv4(address, name);
    }
}

function readNames(name) {
    if (name === undefined) {
        return [];
    }
    if (typeof name === 'string') {
        return [check.text(name, 'option "name"', MAX_NAME_BYTES)];
    }
    if (!Array.isArray(name)) {
        check.wrongType('option "name"', 'a string or an array of strings', name);
    }
    if (name.length === 0) {
        check.wrongValue('option "name"', 'left out or an array of at least one name', name);
    }
    return Array.from(name, (one, index) => check.text(one, `option "name[${index}]"`, MAX_NAME_BYTES));
}

/** Swapping the class must not stop a service, so that an unknown option is only warned about. */
function unknownOptions(given, known) {
    return Object.keys(given)
        .filter(name => !known.includes(name))
        .map(name => {
            const meant = didYouMean(name, known);
            const hint = meant ? `; did you mean "${meant}"?` : '';
            return `unknown option ${JSON.stringify(name)} is ignored${hint}`;
        });
}

/** Once per process is enough, and only where the variable had a say. */
function aliveCheckWarning({ useAliveCheck }) {
    if (useAliveCheck !== undefined || !aliveCheck.warning) {
        return [];
    }
    const { warning } = aliveCheck;
    delete aliveCheck.warning;
    return [warning];
}

module.exports = {
    DEFAULT_UDP_CLUSTER_MANAGER_OPTIONS,
    MAX_NAME_BYTES,
    readManagerOptions,
    unknownOptions,
    withDefaults,
};
