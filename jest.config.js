'use strict';

module.exports = {
    // The rest of the repository is Rust, or is made by a build.
    roots: ['<rootDir>/__test__'],
    testMatch: ['**/*.spec.js'],
    // Specs wait for events, not for time, but some start processes and servers.
    testTimeout: 30_000,
};
