'use strict';

const path = require('node:path');
const { once } = require('node:events');
const { spawn } = require('node:child_process');

/**
 * Starts a service's queue in a process of its own, with the options of its cluster manager.
 *
 * `says` resolves once the process has printed a line, `ended` with its exit code and signal.
 */
function startService(options) {
    const program = path.join(__dirname, 'queue-process.js');
    const child = spawn(process.execPath, [program, JSON.stringify(options)]);
    const service = { child, ended: once(child, 'exit'), errors: '', lines: '' };

    child.stdout.on('data', data => { service.lines += data; });
    child.stderr.on('data', data => { service.errors += data; });
    service.says = async line => {
        while (!service.lines.includes(`${line}\n`)) {
            await once(child.stdout, 'data');
        }
    };
    return service;
}

exports.startService = startService;
