'use strict';

const path = require('node:path');
const { execFile } = require('node:child_process');

const ROOT = path.join(__dirname, '..', '..');

/**
 * Runs a program in a Node.js process of its own, from the root of the package.
 *
 * @param {string[]} args - what follows `node`
 * @param {object} [options]
 * @param {number} [options.timeout] - after so many ms it is killed, and `signal` says so
 * @param {Record<string, string>} [options.env] - added to the environment
 * @returns {Promise<{ code: number, signal: string | null, stdout: string, stderr: string }>}
 */
function runNode(args, { timeout = 20_000, env = {} } = {}) {
    const options = { cwd: ROOT, env: { ...process.env, ...env }, killSignal: 'SIGKILL', timeout };

    return new Promise(resolve => {
        execFile(process.execPath, args, options, (error, stdout, stderr) => {
            const { code = 0, signal = null } = error ?? {};
            resolve({ code, signal, stdout, stderr });
        });
    });
}

/** Runs source text, which may `require` from the root of the package. */
const runScript = (source, options) => runNode(['--eval', source], options);

/** Runs source text as an ES module. */
const runModule = (source, options) => runNode(
    ['--input-type=module', '--eval', source],
    options,
);

module.exports = { ROOT, runModule, runNode, runScript };
