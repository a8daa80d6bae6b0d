'use strict';

/**
 * Unusual ways of writing an announcement. Each takes the fields of a datagram as they would
 * usually be written, and returns what is written instead; what the two managers make of it is for
 * their readers to say.
 */

const withAddress = address => fields => ({ ...fields, address: address(fields) });
const withInterval = interval => fields => ({ ...fields, interval });
const withTransport = (...more) => fields => ({ ...fields, interval: fields.interval ?? 0, more });
const bytes = (...values) => Buffer.from(values).toString('latin1');

/** Whatever the type is: none of these changes how long a broker lives. */
const SPELLINGS = {
    'capital type': fields => ({ ...fields, type: fields.type.toUpperCase() }),
    'unknown type': fields => ({ ...fields, type: 'bye' }),
    'empty type': fields => ({ ...fields, type: '' }),
    'three fields': ({ name, id }) => ({ name, id, type: 'down' }),
    'two fields': ({ name, id }) => ({ name, id }),
    'empty name': fields => ({ ...fields, name: '' }),
    'long name': fields => ({ ...fields, name: 'n'.repeat(256) }),
    'longest name': fields => ({ ...fields, name: 'n'.repeat(255) }),
    'control character in name': fields => ({ ...fields, name: `${fields.name}\x1b[31m` }),
    'undecodable name': fields => ({ ...fields, name: bytes(0x62, 0xe2, 0x82, 0x62, 0xf0, 0x9f) }),
    'undecodable id': fields => ({ ...fields, id: bytes(0xed, 0xa0, 0x80, 0xff) }),
    'empty id': fields => ({ ...fields, id: '' }),
    'long id': fields => ({ ...fields, id: 'i'.repeat(129) }),
    'control character in id': fields => ({ ...fields, id: `${fields.id}\x07` }),
    'empty address': withAddress(() => ''),
    'no port': withAddress(({ host }) => host),
    'empty port': withAddress(({ host }) => `${host}:`),
    'port 0': withAddress(({ host }) => `${host}:0`),
    'port 65536': withAddress(({ host }) => `${host}:65536`),
    'negative port': withAddress(({ host }) => `${host}:-1`),
    'signed port': withAddress(({ host, port }) => `${host}:+${port}`),
    'hexadecimal port': withAddress(({ host }) => `${host}:0x1F`),
    'leading zeros in port': withAddress(({ host, port }) => `${host}:00${port}`),
    'letters after port': withAddress(({ host, port }) => `${host}:${port}abc`),
    'two ports': withAddress(({ host, port }) => `${host}:${port}:7`),
    'no host': withAddress(({ port }) => `:${port}`),
    'space around address': withAddress(({ host, port }) => ` ${host} : ${port} `),
    'space inside host': withAddress(({ host, port }) => `10. ${host}:${port}`),
    'slash in host': withAddress(({ host, port }) => `${host}/24:${port}`),
    'undecodable host': withAddress(({ host, port }) => `${host}${bytes(0xe9)}:${port}`),
    'long host': withAddress(({ port }) => `${'h'.repeat(254)}:${port}`),
    'IPv6': withAddress(({ port }) => `[fd00::1]:${port}`),
    'IPv6 without brackets': withAddress(({ port }) => `fd00::1:${port}`),
    'IPv6 without port': withAddress(() => '[fd00::1]'),
    'IPv6, bracket not closed': withAddress(({ port }) => `[fd00::1:${port}`),
    'IPv4 in brackets': withAddress(({ host, port }) => `[${host}]:${port}`),
    'unspecified': withAddress(({ port }) => `0.0.0.0:${port}`),
    'unspecified IPv6': withAddress(({ port }) => `[::]:${port}`),
    'limited broadcast': withAddress(({ port }) => `255.255.255.255:${port}`),
    'multicast': withAddress(({ port }) => `224.0.0.1:${port}`),
    'unknown transport': withTransport('quic'),
    'eight fields': withTransport('plain', 'seven', 'eight'),
    'line end': fields => ({ ...fields, end: '\r\n' }),
};

/** Intervals that at least one of the managers reads as another one than is written. */
const INTERVALS = {
    'interval with a unit': withInterval('60sec'),
    'negative interval': withInterval('-5'),
    'interval NaN': withInterval('NaN'),
    'interval Infinity': withInterval('Infinity'),
    'word as interval': withInterval('soon'),
    'empty interval': withInterval(''),
    'interval above a day': withInterval('3000000'),
    'interval 1e300': withInterval('1e300'),
    'interval of 400 digits': withInterval('9'.repeat(400)),
};

/** The datagram as bytes, its characters being bytes already. */
function write({ name, id, type, address, interval, more = [], end = '' }) {
    const fields = [name, id, type, address, interval, ...more];
    const written = fields.filter(field => field !== undefined);

    return Buffer.from(written.join('\t') + end, 'latin1');
}

module.exports = { INTERVALS, SPELLINGS, withTransport, write };
