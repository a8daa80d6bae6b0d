'use strict';

const { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { basename, join } = require('node:path');

const { createBindingLoader } = require('../lib/binding.js');
const { createFacade } = require('../lib/facade.js');
const { withLeanReport } = require('../lib/lean-report.js');
const { builtBinding } = require('./helpers/built.js');
const { ROOT, runNode, runScript } = require('./helpers/run-node.js');

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
        const binding = { Environment: class {} };
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
            'npm run build',
            `Rust ${minimumRust()}`,
            '--loader:.node=copy',
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

    it('should not take for a binding what a bundler put in place of one', () => {
        const load = createBindingLoader(() => './addon-G5JBWJKK.node');

        expect(load).toThrow(/no binding: '\.\/addon-G5JBWJKK\.node'(.|\n)*loader:\.node=copy/);
    });

    it.each([
        ['within the package', () => 'imqueue-udp-cluster'],
        ['in the package of its platform', file => basename(file, '.node').replace('.', '-')],
    ])('should be found %s', async (_, packageOf) => {
        const built = builtBinding();
        const modules = mkdtempSync(join(tmpdir(), 'imqueue-binding-'));
        try {
            const lib = join(modules, 'imqueue-udp-cluster', 'lib');
            const home = join(modules, packageOf(built));
            mkdirSync(home, { recursive: true });
            cpSync(built, join(home, basename(built)));
            cpSync(join(ROOT, 'lib', 'usual-binding.js'), join(lib, 'usual-binding.js'));
            const { stdout, stderr } = await runScript(`
                const { requireUsualBinding } = require(${JSON.stringify(join(lib, 'usual-binding.js'))});
                console.log(typeof requireUsualBinding()?.Listener);
            `);
            expect([stdout, stderr]).toEqual(['function\n', '']);
        } finally {
            rmSync(modules, { recursive: true });
        }
    });

    it('should be left to the generated loader in a bundle that is an ES module', () => {
        const source = readFileSync(require.resolve('../lib/usual-binding.js'), 'utf8');
        const exported = {};
        // Which has no `__dirname`, nor `__filename`.
        new Function('require', 'exports', source)(require, exported);

        expect(exported.requireUsualBinding()).toBeUndefined();
    });

    it('should work where the permission model allows the package only', async () => {
        const has = flag => process.allowedNodeEnvironmentFlags.has(flag);
        const { stdout, stderr } = await runNode([
            has('--permission') ? '--permission' : '--experimental-permission',
            '--allow-addons',
            `--allow-fs-read=${ROOT}`,
            '--eval',
            `require('./lib/binding.js').loadBinding(); console.log('loaded');`,
        ]);

        expect([stdout, stderr]).toEqual(['loaded\n', expect.not.stringMatching(/^Error/m)]);
    });

    it('should be tried again after a failure', () => {
        const binding = { Environment: class {} };
        const requireBinding = jest.fn(() => binding).mockImplementationOnce(() => {
            throw new Error('busy');
        });
        const load = createBindingLoader(requireBinding);

        expect(load).toThrow(/busy/);
        expect(load()).toBe(binding);
    });
});

describe('the C library', () => {
    const EXCLUDED = 'process.report.excludeNetwork';

    it('should be found without a report, which asks DNS about every peer', async () => {
        const { code, stdout } = await runScript(`
            const fs = require('node:fs');
            const { readFileSync } = fs;
            fs.readFileSync = (file, ...more) => {
                if (file === '/usr/bin/ldd') {
                    throw new Error('a distroless image has none');
                }
                return readFileSync(file, ...more);
            };
            const getReport = () => console.log('asked for a full report');
            process.report.getReport = getReport;
            const { RustUDPClusterManager } = require('./index.js');
            const logger = { log() {}, info() {}, warn() {}, error() {} };

            const started = performance.now();
            new RustUDPClusterManager({ port: 63999, logger }).destroy();
            const took = performance.now() - started;
            console.log(took < 100 || took, process.report.getReport === getReport, ${EXCLUDED});
        `);

        expect([code, stdout]).toEqual([0, 'true true false\n']);
    });

    it('should be recognized by what is mapped into the process', () => {
        const report = withLeanReport(() => process.report.getReport());
        const libc = /\/(?:ld-musl-|libc\.musl-|libc\.so|libc-2)/;

        expect(report.header).toEqual({});
        expect(report.sharedObjects.some(line => libc.test(line))).toBe(
            process.platform === 'linux',
        );
    });

    it('should not be looked for where there are no reports', () => {
        const { report } = process;
        Object.defineProperty(process, 'report', { configurable: true, value: undefined });
        try {
            expect(withLeanReport(() => 'loaded')).toBe('loaded');
        } finally {
            Object.defineProperty(process, 'report', { configurable: true, value: report });
        }
    });
});

function minimumRust() {
    const manifest = readFileSync(join(ROOT, 'Cargo.toml'), 'utf8');

    return /^rust-version = "(.*)"$/m.exec(manifest)[1];
}
