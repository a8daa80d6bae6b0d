'use strict';

// `npm install` in a checkout, or of a git dependency: builds the native binding when there is none
// for this platform. The package from the registry brings a prebuilt one and never runs this.

const { spawnSync } = require('node:child_process');
const { join } = require('node:path');

if (!bindingLoads()) {
    requireCargo();
    const build = spawnSync('npm', ['run', 'build'], {
        cwd: join(__dirname, '..'),
        stdio: 'inherit',
        shell: process.platform === 'win32',
    });
    process.exitCode = build.status ?? 1;
}

function bindingLoads() {
    try {
        require('../binding.js');
        return true;
    } catch {
        return false;
    }
}

function requireCargo() {
    const cargo = spawnSync('cargo', ['--version'], { encoding: 'utf8' });
    if (cargo.status !== 0) {
        console.error(
            'imqueue-udp-cluster: there is no native binding for ' +
                `${process.platform}-${process.arch} here, and building one needs Rust 1.88 or ` +
                'newer: `cargo --version` failed. Install Rust and run `npm run build`.',
        );
        process.exit(1);
    }
}
