'use strict';

const { execFileSync } = require('node:child_process');
const { statSync } = require('node:fs');

const { modulePath } = require('../helpers/broker.js');
const { describeModules } = require('../helpers/servers.js');

/** In bytes. */
const LIMITS = {
    'imq-announcer': 9_000_000, 'promoter.so': 600_000, 'unicaster.so': 9_000_000,
};
const MODULES = Object.keys(LIMITS).filter(name => name.endsWith('.so'));

/** What the Redis images of Debian 12 have. */
const GLIBC = [2, 36];

describeModules('what `npm run build:broker` makes', () => {
    it.each(Object.entries(LIMITS))('should be small: %s', (name, limit) => {
        expect(statSync(modulePath(name)).size).toBeLessThan(limit);
    });

    it.each(Object.keys(LIMITS))('should run where glibc is not new: %s', name => {
        const symbols = execFileSync('objdump', ['-T', modulePath(name)], { encoding: 'utf8' });
        const versions = [...symbols.matchAll(/GLIBC_(\d+)\.(\d+)/g)].map(
            ([, ...numbers]) => numbers.map(Number),
        );
        const newer = versions.filter(
            ([major, minor]) => major > GLIBC[0] || (major === GLIBC[0] && minor > GLIBC[1]),
        );
        expect(versions.length).toBeGreaterThan(0);
        expect(newer).toEqual([]);
    });

    it.each(MODULES)('should show Redis two functions and no more: %s', name => {
        const symbols = execFileSync('nm', ['-D', '--defined-only', modulePath(name)], {
            encoding: 'utf8',
        });
        expect(symbols.match(/\bT \S+/g)).toEqual([
            'T RedisModule_OnLoad',
            'T RedisModule_OnUnload',
        ]);
    });
});
