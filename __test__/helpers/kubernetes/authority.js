'use strict';

const { execFileSync } = require('node:child_process');
const { mkdtempSync, readFileSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');

/**
 * Makes a certificate authority, and a certificate for a server at `addresses` that it has signed.
 *
 * @param {string[]} addresses - IP addresses
 * @returns {{ authority: string, key: string, cert: string }} in PEM
 */
function makeCertificates(addresses) {
    const directory = mkdtempSync(join(tmpdir(), 'imqueue-certificates-'));
    const file = name => join(directory, name);
    const names = addresses.map(address => `IP:${address}`).concat('DNS:localhost');
    try {
        makeCertificate(file('ca'), 'authority', []);
        makeCertificate(file('server'), 'kube-apiserver', [
            '-CA', file('ca.crt'), '-CAkey', file('ca.key'),
            '-addext', 'basicConstraints=critical,CA:FALSE',
            '-addext', `subjectAltName=${names}`,
        ]);
        const [authority, key, cert] = ['ca.crt', 'server.key', 'server.crt']
            .map(name => readFileSync(file(name), 'utf8'));
        return { authority, key, cert };
    } finally {
        rmSync(directory, { recursive: true });
    }
}

/** Makes a key and a certificate of that name. */
function makeCertificate(path, name, more) {
    execFileSync('openssl', [
        'req', '-x509', '-nodes', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1',
        '-days', '2', '-subj', `/CN=${name}`, '-keyout', `${path}.key`, '-out', `${path}.crt`,
        ...more,
    ], { stdio: ['ignore', 'pipe', 'pipe'] });
}

module.exports = { makeCertificates };
