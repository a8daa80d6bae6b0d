'use strict';

const { readFileSync, readdirSync } = require('node:fs');
const { join } = require('node:path');

const CRATES = join(__dirname, '..', '..', 'crates');
const VARIABLE = /"((?:REDIS_BROADCAST|IMQ_ANNOUNCER)_[A-Z_]+|SELECTED_INTERFACES|DEPLOYMENT_ENV)"/g;

/** The environment variables that modules and sidecar read, as their sources name them. */
function variables(crates = ['redis-module', 'unicaster', 'announcer']) {
    const files = crates.flatMap(crate => {
        const folder = join(CRATES, crate, 'src');
        return readdirSync(folder, { recursive: true })
            .filter(file => file.endsWith('.rs'))
            .map(file => join(folder, file));
    });
    const names = files.flatMap(file => {
        return [...readFileSync(file, 'utf8').matchAll(VARIABLE)].map(([, name]) => name);
    });
    return [...new Set(names)].sort();
}

module.exports = { variables };
