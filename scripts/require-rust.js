'use strict';

// Says what to do where there is no Rust, before a build says that it found no cargo.

const { spawnSync } = require('node:child_process');

const options = { stdio: 'ignore', shell: process.platform === 'win32' };

if (spawnSync('cargo', ['--version'], options).status !== 0) {
    console.error([
        'imqueue-udp-cluster: building needs Rust, and there is no `cargo` on the PATH.',
        'Install Rust with rustup (https://rustup.rs), open a new shell, and try again;',
        'rustup brings the version that rust-toolchain.toml names by itself.',
    ].join('\n'));
    process.exitCode = 1;
}
