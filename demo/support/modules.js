'use strict';

const { execFileSync } = require('node:child_process');
const { existsSync } = require('node:fs');
const { join } = require('node:path');

const root = join(__dirname, '..', '..');
const promoter = join(root, 'dist', 'promoter.so');

/**
 * The file of the module promoter, which is built if it has to be.
 *
 * @throws {Error} where the demo cannot run with it
 */
function ensurePromoter() {
    if (process.platform !== 'linux') {
        throw new Error('--modules puts each broker into a network namespace, which only Linux has');
    }
    if (process.getuid() !== 0) {
        throw new Error('--modules makes network namespaces, for which it has to run as root');
    }
    try {
        execFileSync('ip', ['netns', 'list'], { stdio: 'ignore' });
    } catch (error) {
        const advice = 'apt-get install iproute2, or run it where network namespaces are allowed';

        throw new Error(`--modules needs \`ip netns\`: ${advice}`, { cause: error });
    }
    if (!existsSync(promoter)) {
        console.log('dist/promoter.so is missing, and built now.');
        const script = join(root, 'scripts', 'build-broker.js');

        execFileSync(process.execPath, [script, 'promoter'], { stdio: 'inherit' });
    }
    return promoter;
}

exports.ensurePromoter = ensurePromoter;
