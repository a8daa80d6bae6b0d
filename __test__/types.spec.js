'use strict';

const path = require('node:path');

const { runNode } = require('./helpers/run-node.js');

const TSC = require.resolve('typescript/bin/tsc');

/** Wrong code in these projects is marked with @ts-expect-error: it fails where it compiles. */
describe('types', () => {
    it.each(['commonjs', 'nodenext', 'core-3'])('should hold under %s', async project => {
        const config = path.join(__dirname, 'types', `tsconfig.${project}.json`);
        const { stdout, code } = await runNode([TSC, '--project', config], { timeout: 60_000 });

        expect(stdout).toBe('');
        expect(code).toBe(0);
    }, 60_000);
});
