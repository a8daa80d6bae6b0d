'use strict';

// What a user gets: the generated files belong to the sources, the manifest is in order, the binary
// asks for no newer system than promised, and the packed tarballs, split as they are published,
// work in an empty project. Needs a build for this platform.

const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');

/** A native build on Debian 12; release builds are made against 2.17. */
const NEWEST_GLIBC = [2, 34];

const root = join(__dirname, '..');
const manifest = require('../package.json');
const platform = `${process.platform}-${process.arch}-gnu`;
const binary = `${manifest.napi.binaryName}.${platform}.node`;
const scratch = fs.mkdtempSync(join(tmpdir(), 'imqueue-udp-package-'));

try {
    generatedFilesAreCurrent();
    lockFilesNameNoRegistry();
    run('npx', ['publint', '--strict']);
    glibcIsOldEnough();
    tarballsWorkInAnEmptyProject();
} finally {
    fs.rmSync(scratch, { recursive: true, force: true });
}

function generatedFilesAreCurrent() {
    run('npx', ['napi', 'create-npm-dirs']);
    run('git', ['diff', '--exit-code', '--', 'binding.js', 'binding.d.ts', 'npm']);
    assert.equal(run('git', ['status', '--porcelain', '--', 'npm']), '', 'npm/ is not committed');
}

function lockFilesNameNoRegistry() {
    const lock = fs.readFileSync(join(root, 'package-lock.json'), 'utf8');
    assert.ok(!lock.includes('"resolved"'), 'package-lock.json holds download addresses');
}

function glibcIsOldEnough() {
    const symbols = run('objdump', ['-T', binary]);
    const versions = [...symbols.matchAll(/GLIBC_(\d+)\.(\d+)/g)]
        .map(([, major, minor]) => [Number(major), Number(minor)]);
    assert.ok(versions.length > 0, `${binary} names no glibc version at all`);
    for (const [major, minor] of versions) {
        assert.ok(
            major === NEWEST_GLIBC[0] && minor <= NEWEST_GLIBC[1],
            `${binary} needs glibc ${major}.${minor}, newer than ${NEWEST_GLIBC.join('.')}`,
        );
    }
}

function tarballsWorkInAnEmptyProject() {
    const tarballs = [packRootWithoutBinary(), packPlatform()];
    const project = join(scratch, 'project');
    fs.mkdirSync(project);
    fs.writeFileSync(join(project, 'package.json'), '{ "private": true }\n');
    run('npm', ['install', '--offline', '--no-audit', '--no-fund', ...tarballs], project);

    const use = 'const manager = new RustUDPClusterManager({ port: 63999 });'
        + 'manager.destroy().then(() => console.log("works"));';
    const required = `const { RustUDPClusterManager } = require('${manifest.name}'); ${use}`;
    const imported = `import { RustUDPClusterManager } from '${manifest.name}'; ${use}`;
    assert.equal(run('node', ['-e', required], project), 'works\n');
    assert.equal(run('node', ['--input-type=module', '-e', imported], project), 'works\n');
}

/** What is published under the package's own name; the binary is not in it. */
function packRootWithoutBinary() {
    const packed = pack(root);
    run('tar', ['-xzf', packed, '-C', scratch]);
    const directory = join(scratch, 'package');
    fs.rmSync(join(directory, binary));
    const files = fs.readdirSync(directory).sort();
    assert.deepEqual(files, [
        'LICENSE', 'README.md', 'binding.d.ts', 'binding.js', 'index.d.ts', 'index.js', 'lib',
        'package.json',
    ]);
    return pack(directory);
}

/** What is published for this platform. */
function packPlatform() {
    const directory = join(scratch, platform);
    fs.cpSync(join(root, 'npm', platform), directory, { recursive: true });
    fs.copyFileSync(join(root, binary), join(directory, binary));
    return pack(directory);
}

function pack(directory) {
    const destination = fs.mkdtempSync(join(scratch, 'tarball-'));
    const [{ filename }] = JSON.parse(run('npm', [
        'pack', '--json', '--ignore-scripts', '--pack-destination', destination,
    ], directory));
    return join(destination, filename);
}

/** Runs a program to its end and returns its output; throws when it fails. */
function run(command, args, cwd = root) {
    return execFileSync(command, args, {
        cwd,
        encoding: 'utf8',
        maxBuffer: 64 * 1024 * 1024,
        stdio: ['ignore', 'pipe', 'inherit'],
    });
}
