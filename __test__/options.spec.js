'use strict';

const { createHarness, createLogger, invalidOptions } = require('./helpers/harness.js');

describe('options of RustUDPClusterManager', () => {
    let harness;

    beforeEach(() => {
        harness = createHarness();
    });

    const invalid = [
        ...invalidOptions(TypeError, {
            port: [null, '63000', true, {}],
            address: [63000, true, {}],
            limitedAddress: [63000, {}],
            aliveTimeoutCorrection: [null, '5000'],
            useAliveCheck: [null, 'false', 0, 1],
            handleSignals: [null, 'no', 0],
            relay: [null, 'yes', 1],
            maxServers: [null, '10'],
            name: [null, 7, {}, [7], [undefined], Array(1)],
            logger: [null, 'console', {}, { log() {}, info() {}, warn() {} }],
        }),
        ...invalidOptions(RangeError, {
            port: [0, -1, 65536, 63000.5, NaN, Infinity],
            address: ['localhost', '10.0.1', '256.0.0.1', 'fd00::1', ' 10.0.1.255'],
            limitedAddress: ['everywhere'],
            aliveTimeoutCorrection: [-1, NaN, Infinity, 2 ** 31 + 1],
            maxServers: [0, -1, 1.5, 1_000_001, NaN],
            name: ['', [], [''], ['a', ''], 'a\tb', 'n'.repeat(256)],
        }),
    ];

    it.each(invalid)('should reject %s: %p', (option, value, error) => {
        const construct = () => harness.createManager({ [option]: value });

        expect(construct).toThrow(error);
        expect(construct).toThrow(new RegExp(`option "${option}.*must be .*, got `));
        expect(harness.binding.listeners).toHaveLength(0);
    });

    it.each(['port=1', 63000, [], () => {}])('should reject options that are %p', options => {
        const { RustUDPClusterManager } = harness.facade;

        expect(() => new RustUDPClusterManager(options)).toThrow(TypeError);
    });

    it('should name the value that is wrong', () => {
        expect(() => harness.createManager({ port: 70000 })).toThrow(
            new RangeError('option "port" must be an integer from 1 to 65535, got 70000'),
        );
    });

    it('should name the functions that a logger lacks', () => {
        expect(() => harness.createManager({ logger: { log() {}, warn() {} } }))
            .toThrow(/\(missing: info, error\)/);
    });

    it('should listen with the defaults of @imqueue/core', () => {
        harness.createManager();

        expect(harness.listener).toMatchObject({
            port: 63000,
            host: '255.255.255.255',
            relay: true,
            correction: 5000,
            maxServers: 1024,
            names: [],
        });
    });

    it('should take an explicit undefined for the default', () => {
        harness.createManager({
            port: undefined,
            address: undefined,
            limitedAddress: undefined,
            aliveTimeoutCorrection: undefined,
            useAliveCheck: undefined,
            handleSignals: undefined,
            maxServers: undefined,
            name: undefined,
            relay: undefined,
        });

        expect(harness.listener).toMatchObject({ port: 63000, correction: 5000, names: [] });
    });

    it('should pass on what it is given', () => {
        harness.createManager({
            port: 63001,
            address: '10.0.1.255',
            aliveTimeoutCorrection: 0,
            maxServers: 8,
            name: ['a', 'b'],
            relay: false,
        });

        expect(harness.listener).toMatchObject({
            port: 63001,
            host: '10.0.1.255',
            relay: false,
            correction: 0,
            maxServers: 8,
            names: ['a', 'b'],
        });
    });

    it('should take a single name', () => {
        harness.createManager({ name: 'imq-broker' });
        expect(harness.listener.names).toEqual(['imq-broker']);
    });

    it('should have no deadlines when the alive check is off', () => {
        harness.createManager({ useAliveCheck: false, aliveTimeoutCorrection: 10 });
        expect(harness.listener.correction).toBeNull();
    });

    it.each([
        [{ address: null }, '255.255.255.255'],
        [{ address: '' }, '255.255.255.255'],
        [{ address: '0.0.0.0' }, '255.255.255.255'],
        [{ address: null, limitedAddress: '' }, '255.255.255.255'],
        [{ address: '', limitedAddress: '10.0.1.255' }, '255.255.255.255'],
        [{ address: '10.0.1.255', limitedAddress: '10.0.1.255' }, '255.255.255.255'],
        [{ address: '10.0.1.255', limitedAddress: '255.255.255.255' }, '10.0.1.255'],
        [{ address: '10.0.1.255', limitedAddress: null }, '10.0.1.255'],
    ])('should read %j as %s', (options, address) => {
        harness.createManager(options);
        expect(harness.listener.host).toBe(address);
    });

    it('should warn about an unknown option by name and go on', () => {
        harness.createManager({ ports: 63001, colour: 'red' });

        const lines = harness.logger.warn.mock.calls.map(([line]) => line);
        expect(lines).toEqual([
            expect.stringContaining('"ports" is ignored; did you mean "port"?'),
            expect.stringMatching(/"colour" is ignored$/),
        ]);
        expect(harness.listener.port).toBe(63000);
    });

    it('should read changed defaults, as the original does', () => {
        const { DEFAULT_UDP_CLUSTER_MANAGER_OPTIONS: defaults } = harness.facade;
        const { port } = defaults;
        defaults.port = 63009;
        try {
            harness.createManager();
        } finally {
            defaults.port = port;
        }
        expect(harness.listener.port).toBe(63009);
    });
});

describe('IMQ_UDP_CLUSTER_MANAGER_ALIVE_CHECK', () => {
    const NAME = 'IMQ_UDP_CLUSTER_MANAGER_ALIVE_CHECK';

    /** The variable is read when the module is loaded. */
    function loadWith(value) {
        process.env[NAME] = value;
        try {
            let harness;
            jest.isolateModules(() => {
                harness = require('./helpers/harness.js').createHarness();
            });
            return harness;
        } finally {
            delete process.env[NAME];
        }
    }

    it.each(['1', 'true', 'YES', 'On', '', ' '])('should be on for %j', value => {
        const harness = loadWith(value);
        harness.createManager();

        expect(harness.facade.DEFAULT_UDP_CLUSTER_MANAGER_OPTIONS.useAliveCheck).toBe(true);
        expect(harness.listener.correction).toBe(5000);
        expect(harness.logger.warn).not.toHaveBeenCalled();
    });

    it.each(['0', 'false', 'NO', 'Off'])('should be off for %j', value => {
        const harness = loadWith(value);
        harness.createManager();

        expect(harness.listener.correction).toBeNull();
        expect(harness.logger.warn).not.toHaveBeenCalled();
    });

    it('should be on for anything else, with one warning', () => {
        const harness = loadWith('maybe');
        harness.createManager();
        harness.createManager();

        expect(harness.listener.correction).toBe(5000);
        expect(harness.logger.warn).toHaveBeenCalledTimes(1);
        expect(harness.logger.warn).toHaveBeenCalledWith(
            expect.stringContaining(`${NAME}="maybe"`),
        );
    });

    it('should have no say where the option is given', () => {
        const harness = loadWith('off');
        harness.createManager({ useAliveCheck: true, logger: createLogger() });

        expect(harness.listener.correction).toBe(5000);
    });
});
