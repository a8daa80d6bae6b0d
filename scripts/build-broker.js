'use strict';

// `npm run build:broker`: builds what a broker loads, or runs beside it, into dist/. With names
// (`npm run build:broker -- promoter`) only those.

const { execFileSync } = require('node:child_process');
const { copyFileSync, mkdirSync, renameSync, statSync } = require('node:fs');
const { join } = require('node:path');

const root = join(__dirname, '..');
const dist = join(root, 'dist');

/** Cargo packages, with what cargo makes of them and what it is called in dist/. */
const PRODUCTS = {
    announcer: { package: 'imqueue-announcer', made: 'imq-announcer', name: 'imq-announcer' },
    promoter: { package: 'imqueue-promoter', made: 'libpromoter.so', name: 'promoter.so' },
    unicaster: { package: 'imqueue-unicaster', made: 'libunicaster.so', name: 'unicaster.so' },
};

/**
 * What is built together: those that share most of what they depend on, so that this is compiled
 * once. What is compiled with another has the features that the other needs, which would make a
 * promoter too large.
 */
const BATCHES = [['promoter'], ['announcer', 'unicaster']];

main(process.argv.slice(2));

function main(names) {
    const unknown = names.find(name => !Object.hasOwn(PRODUCTS, name));
    if (unknown) {
        const known = Object.keys(PRODUCTS).join(', ');
        console.error(`build-broker: there is no ${unknown}; there are ${known}`);
        process.exitCode = 2;
        return;
    }
    mkdirSync(dist, { recursive: true });
    const isWanted = name => names.length === 0 || names.includes(name);
    for (const batch of BATCHES) {
        build(batch.filter(isWanted).map(name => PRODUCTS[name]));
    }
}

function build(products) {
    if (products.length === 0) {
        return;
    }
    const packages = products.flatMap(product => ['--package', product.package]);
    const args = ['build', '--profile', 'broker', '--locked', ...packages];
    execFileSync('cargo', args, { cwd: root, stdio: 'inherit' });
    products.forEach(deliver);
}

/** A server that has the former one loaded keeps it: it is replaced, not overwritten. */
function deliver({ made, name }) {
    const product = join(dist, name);
    const unfinished = `${product}.${process.pid}`;
    copyFileSync(join(targetDirectory(), 'broker', made), unfinished);
    renameSync(unfinished, product);
    console.log(`dist/${name}: ${Math.ceil(statSync(product).size / 1000)} KB`);
}

function targetDirectory() {
    const args = ['metadata', '--format-version', '1', '--no-deps', '--offline'];
    const options = { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 };
    return JSON.parse(execFileSync('cargo', args, options)).target_directory;
}
