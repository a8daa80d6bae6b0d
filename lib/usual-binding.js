'use strict';

const { existsSync } = require('node:fs');
const { sep } = require('node:path');

/** What a platform's binary is usually built for, as the end of its name. */
const ABIS = { darwin: '', linux: '-gnu', win32: '-msvc' };

/**
 * Loads the binding from where it is on nearly every machine: in the package in a checkout, and in
 * the platform package beside it where it was installed.
 *
 * The loader that the napi CLI generates knows every other place too, and can say what is wrong. But
 * reading that much takes longer than all that a manager does from its constructor to its socket.
 *
 * @returns {object | undefined} nothing if it is not there or does not load
 */
function requireUsualBinding() {
    const { NAPI_RS_FORCE_WASI, NAPI_RS_NATIVE_LIBRARY_PATH } = process.env;
    const isLeftToUs = (NAPI_RS_NATIVE_LIBRARY_PATH ?? NAPI_RS_FORCE_WASI) === undefined;

    try {
        return isLeftToUs && process.platform in ABIS ? load() : undefined;
    } catch {
        // There are bundles that know no `__dirname`, and permissions that leave out `/etc`.
        return undefined;
    }
}

function load() {
    const { arch, platform } = process;

    // Alpine Linux can be made to load what is built for another C library, which then misbehaves.
    if (existsSync('/etc/alpine-release')) {
        return undefined;
    }
    const target = `${platform}-${arch}${ABIS[platform]}`;
    const name = `imqueue-udp-cluster.${target}.node`;
    const places = [['..', name], ['..', '..', `imqueue-udp-cluster-${target}`, name]];
    // Not by `join`, which takes longer to be compiled than all of this.
    const file = places.map(place => [__dirname, ...place].join(sep)).find(path => existsSync(path));

    return file && open(file);
}

/** Not by `require`, which bundlers would take for theirs, and which would look for it once more. */
function open(file) {
    const module = { exports: {} };

    process.dlopen(module, file);
    return module.exports;
}

exports.requireUsualBinding = requireUsualBinding;
