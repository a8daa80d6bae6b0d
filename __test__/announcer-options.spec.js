'use strict';

const { createHarness, invalidOptions } = require('./helpers/harness.js');

describe('options of Announcer', () => {
    let harness;

    beforeEach(() => {
        harness = createHarness();
    });

    const invalid = [
        ...invalidOptions(TypeError, {
            host: [undefined, null, 7],
            port: [undefined, null, '6379'],
            name: [null, 7],
            id: [null, 7],
            interval: [null, '1'],
            transport: [null, true],
            destinations: [null, '127.0.0.1', [7], [['127.0.0.1']]],
            logger: [null, {}],
        }),
        ...invalidOptions(RangeError, {
            host: ['', 'a b', '10.0.0.1:6379', '[fd00::1]', 'h'.repeat(254), 'a\tb'],
            port: [0, 65536, 1.5],
            name: ['', 'a\tb', 'n'.repeat(256)],
            id: ['', 'i'.repeat(129), 'a\nb'],
            interval: [0, -1, NaN, Infinity, 86_401],
            transport: ['TLS', 'quic', ''],
            destinations: [[''], ['10.0.0.1:0'], ['10.0.0.1:70000'], ['fd00::1'], ['[10.0.0.1]']],
        }),
    ];

    it.each(invalid)('should reject %s: %p', (option, value, error) => {
        const construct = () => harness.createAnnouncer({ [option]: value });

        expect(construct).toThrow(error);
        expect(construct).toThrow(new RegExp(`option "${option}.*must be .*, got `));
    });

    it('should announce with the defaults of the broker module', async () => {
        harness.createAnnouncer().start();

        expect(harness.announcer).toMatchObject({
            host: '10.0.0.1',
            port: 6379,
            name: 'imq-broker',
            id: expect.stringMatching(/^[0-9a-f-]{36}$/),
            interval: 1000,
            transport: null,
            destinations: ['255.255.255.255:63000'],
        });
    });

    it('should pass on what it is given', () => {
        harness.createAnnouncer({
            host: 'fd00::1',
            id: 'id-1',
            interval: 0.5,
            name: 'other',
            transport: 'tls',
            destinations: ['127.0.0.1', 'broker.local:63001', '[::1]:63001'],
        }).start();

        expect(harness.announcer).toMatchObject({
            host: 'fd00::1',
            id: 'id-1',
            interval: 500,
            name: 'other',
            transport: 'tls',
            destinations: ['127.0.0.1', 'broker.local:63001', '[::1]:63001'],
        });
    });

    it('should warn about an unknown option by name and go on', () => {
        harness.createAnnouncer({ hots: 'x' });

        expect(harness.logger.warn).toHaveBeenCalledWith(
            expect.stringContaining('"hots" is ignored; did you mean "host"?'),
        );
    });
});
