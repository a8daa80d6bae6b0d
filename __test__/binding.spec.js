'use strict';

const { createBindingLoader } = require('../lib/binding.js');
const { createFacade } = require('../lib/facade.js');

describe('loading of the native binding', () => {
    /** An error as the generated loader makes it: the attempts hang on it as a chain of causes. */
    function loaderError(...messages) {
        const cause = messages.reduce(
            (previous, message) => Object.assign(new Error(message), { cause: previous }),
            undefined,
        );
        return new Error('Cannot find native binding. npm has a bug ...', { cause });
    }

    function failWith(error) {
        const load = createBindingLoader(() => {
            throw error;
        });
        try {
            load();
        } catch (thrown) {
            return thrown;
        }
        throw new Error('did not throw');
    }

    it('should happen once', () => {
        const binding = {};
        const requireBinding = jest.fn(() => binding);
        const load = createBindingLoader(requireBinding);

        expect([load(), load()]).toEqual([binding, binding]);
        expect(requireBinding).toHaveBeenCalledTimes(1);
    });

    it('should wait for the first manager', () => {
        const load = jest.fn(() => {
            throw new Error('no binary');
        });
        const { RustUDPClusterManager, clusterOptions } = createFacade(load);

        expect(clusterOptions({ DISABLE_CLUSTER_MANAGER: '1' })).toHaveProperty('cluster');
        expect(load).not.toHaveBeenCalled();
        expect(() => new RustUDPClusterManager()).toThrow('no binary');
    });

    it('should say what is missing, why, and what helps', () => {
        const original = loaderError(
            "Cannot find module './imqueue-udp-cluster.linux-x64-gnu.node'\nRequire stack: ...",
            "version `GLIBC_2.38' not found",
            "Cannot find module './imqueue-udp-cluster.wasi.cjs'",
        );
        const error = failWith(original);

        expect(error.code).toBe('ERR_NATIVE_BINDING');
        expect(error.cause).toBe(original);
        expect(error.message).toContain(`${process.platform}-${process.arch}`);
        expect(error.message).toContain(process.version);
        expect(error.message).toContain("  - Cannot find module './imqueue-udp-cluster.linux-x64");
        expect(error.message).toContain("  - version `GLIBC_2.38' not found");
        expect(error.message).not.toMatch(/wasi|Require stack|npm has a bug/);
        for (const help of [
            '--omit=optional',
            'another platform',
            'npm rebuild',
            'Rust 1.88',
            'NAPI_RS_NATIVE_LIBRARY_PATH',
        ]) {
            expect(error.message).toContain(help);
        }
    });

    it('should say what else went wrong where there is no chain of causes', () => {
        expect(failWith(new Error("Cannot find module '../binding.js'")).message)
            .toContain("  - Cannot find module '../binding.js'");
        expect(failWith('a string').message).toContain('  - a string');
    });

    it('should be tried again after a failure', () => {
        const binding = {};
        const requireBinding = jest.fn(() => binding).mockImplementationOnce(() => {
            throw new Error('busy');
        });
        const load = createBindingLoader(requireBinding);

        expect(load).toThrow(/busy/);
        expect(load()).toBe(binding);
    });
});
