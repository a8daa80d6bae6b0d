'use strict';

const { isIPv4, isIPv6 } = require('node:net');

const DAY_MS = 24 * 60 * 60 * 1000;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const HOST = /^[\p{Alphabetic}\p{N}._-]+$/u;

/**
 * How a datagram is to be read by docs/protocol.md, "Wire format".
 *
 * @param {Buffer} bytes
 * @returns {{ server: object } | { rejected: string }} what it announces, or the wrong field
 */
function readByRules(bytes) {
    const [name, id, kind, address, interval, transport] = split(bytes);

    if (address === undefined) {
        return { rejected: 'fields' };
    }
    const type = kind.toString().toLowerCase();
    const endpoint = readAddress(address);
    const timeout = readInterval(interval);
    const wrong = {
        name: !isLabel(name, 255),
        id: !isLabel(id, 128),
        kind: !['up', 'down'].includes(type),
        address: endpoint === undefined,
        interval: type === 'up' && timeout === undefined,
    };
    const rejected = Object.keys(wrong).find(field => wrong[field]);
    if (rejected) {
        return { rejected };
    }
    const word = transport?.toString().trim().toLowerCase();
    const server = { id: id.toString(), name: name.toString(), type, ...endpoint, timeout };

    return { server: ['plain', 'tls'].includes(word) ? { ...server, transport: word } : server };
}

function split(bytes) {
    const fields = bytes.toString('latin1').split('\t');
    return fields.map(field => Buffer.from(field, 'latin1'));
}

function isLabel(field, limit) {
    return field.length >= 1 && field.length <= limit && !/\p{Cc}/u.test(field.toString());
}

function readAddress(field) {
    const text = field.toString();
    const colon = text.lastIndexOf(':');
    const host = text.slice(0, Math.max(colon, 0)).trim();
    const port = text.slice(colon + 1).trim();
    const inner = /^\[(.*)\]$/s.exec(host)?.[1];
    const right = inner === undefined ? isName(host) : isConnectableIPv6(inner);

    return right && /^\d+$/.test(port) && Number(port) >= 1 && Number(port) <= 65535
        ? { host: inner ?? host, port: Number(port) }
        : undefined;
}

function isName(host) {
    const isShort = Buffer.byteLength(host) <= 253;
    return HOST.test(host) && isShort && (!isIPv4(host) || isConnectable(host));
}

/** Not the unspecified one, nor limited broadcast, nor multicast. */
function isConnectable(address) {
    const first = Number(address.split('.')[0]);
    return address !== '0.0.0.0' && address !== '255.255.255.255' && (first < 224 || first > 239);
}

function isConnectableIPv6(address) {
    return isIPv6(address) && address !== '::' && !/^ff/i.test(address);
}

function readInterval(field) {
    if (field === undefined) {
        return 0;
    }
    const text = field.toString().trim();
    const seconds = NUMBER.test(text) ? Number(text) : NaN;

    return seconds >= 0 && seconds < Infinity ? Math.min(seconds * 1000, DAY_MS) : undefined;
}

exports.readByRules = readByRules;
