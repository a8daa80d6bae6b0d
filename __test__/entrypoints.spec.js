'use strict';

const { readFileSync } = require('node:fs');
const path = require('node:path');
const ts = require('typescript');

const { ROOT, runModule, runScript } = require('./helpers/run-node.js');

const NAMES = [
    'Announcer',
    'DEFAULT_UDP_CLUSTER_MANAGER_OPTIONS',
    'RustUDPClusterManager',
    'UDPClusterManager',
    'clusterOptions',
];

describe('entry points', () => {
    it('should export exactly what is documented', () => {
        expect(Object.keys(require('..')).sort()).toEqual(NAMES);
    });

    it('should export the manager under the name of the original, too', () => {
        const { RustUDPClusterManager, UDPClusterManager } = require('..');
        expect(UDPClusterManager).toBe(RustUDPClusterManager);
        expect(RustUDPClusterManager.name).toBe('RustUDPClusterManager');
    });

    it('should be required without loading anything native', async () => {
        const { code, stdout } = await runScript(`
            console.log(Object.keys(require('./index.js')).sort().join());
            console.log(require.cache[require('path').resolve('binding.js')]);
        `);

        expect(stdout.split('\n').slice(0, 2)).toEqual([NAMES.join(), 'undefined']);
        expect(code).toBe(0);
    });

    it('should be imported by name', async () => {
        const { code, stdout, stderr } = await runModule(`
            import { ${NAMES.join(', ')} } from './index.js';
            import everything from './index.js';
            console.log([${NAMES.join(', ')}].every(value => value !== undefined));
            console.log(everything.Announcer === Announcer);
        `);

        expect(stderr).toBe('');
        expect(stdout).toBe('true\ntrue\n');
        expect(code).toBe(0);
    });

    it('should declare in index.d.ts what they export', () => {
        const file = path.join(ROOT, 'index.d.ts');
        const text = readFileSync(file, 'utf8');
        const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest);

        expect([...new Set(source.statements.flatMap(valuesExportedBy))].sort()).toEqual(NAMES);
    });
});

/** The names of classes, functions, constants and re-exports; types have none at run time. */
function valuesExportedBy(statement) {
    if (ts.isExportDeclaration(statement)) {
        return statement.isTypeOnly
            ? []
            : statement.exportClause.elements.map(element => element.name.text);
    }
    const exported = statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
    if (!exported || ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)) {
        return [];
    }
    return ts.isVariableStatement(statement)
        ? statement.declarationList.declarations.map(({ name }) => name.text)
        : [statement.name.text];
}
