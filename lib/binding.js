'use strict';

const { inspect } = require('node:util');

const { requireUsualBinding } = require('./usual-binding.js');
const { withLeanReport } = require('./lean-report.js');

/**
 * Makes a function that loads the native binding on its first call and then returns the same one.
 *
 * Loading waits for the first use, so that importing the package for its constants and types works
 * on every platform.
 *
 * @param {() => object} requireBinding - what finds the binding; throws where there is none
 * @returns {() => object} the binding; throws an `Error` with code `ERR_NATIVE_BINDING` when it
 *     cannot be loaded, and tries again on the next call
 */
function createBindingLoader(requireBinding) {
    let binding;

    return () => {
        try {
            binding ??= checked(requireBinding());
        } catch (error) {
            throw bindingError(error);
        }
        return binding;
    };
}

/** Bundlers may put something else in place of a binary, such as its path. */
function checked(binding) {
    if (typeof binding?.Environment !== 'function') {
        throw new TypeError(`what was loaded is no binding: ${inspect(binding)}`);
    }
    return binding;
}

function bindingError(cause) {
    const { platform, arch, version } = process;
    const reasons = reasonsOf(cause).map(reason => `  - ${reason}`);
    const message = [
        `imqueue-udp-cluster: no native binding for ${platform}-${arch} could be loaded`
            + ` by node ${version}.`,
        ...reasons,
        'What helps:',
        '  - Installed with --omit=optional or --no-optional? Install without it: the binary is in'
            + ' an optional dependency.',
        '  - node_modules copied from another platform (or into a container)? Install on the'
            + ' platform that runs it.',
        '  - No binary for this platform? Build one from a checkout, `npm install && npm run build`'
            + ' (needs Rust 1.89 or newer), and set NAPI_RS_NATIVE_LIBRARY_PATH as below.',
        '  - Bundled? Have .node files copied (esbuild: --loader:.node=copy), or leave this package'
            + ' out of the bundle.',
        '  - The binary lies somewhere else? Set NAPI_RS_NATIVE_LIBRARY_PATH to the absolute path'
            + ' of the .node file.',
    ].join('\n');

    return Object.assign(new Error(message, { cause }), { code: 'ERR_NATIVE_BINDING' });
}

/**
 * The first lines of what the generated loader ran into, oldest first.
 *
 * Its own headline says the same whatever the cause, and its WebAssembly fallbacks are not
 * published, so that both would only hide the reason.
 */
function reasonsOf(error) {
    const reasons = [];
    for (let cause = error?.cause; cause; cause = cause.cause) {
        const [line] = messageOf(cause).split('\n');
        if (!/wasi|wasm/i.test(line)) {
            reasons.unshift(line);
        }
    }
    return reasons.length > 0 ? reasons : [messageOf(error).split('\n')[0]];
}

function messageOf(error) {
    return String(error?.message ?? error);
}

exports.createBindingLoader = createBindingLoader;
exports.loadBinding = createBindingLoader(
    () => requireUsualBinding() ?? withLeanReport(() => require('../binding.js')),
);
