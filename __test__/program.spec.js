'use strict';

// What tests wait for: lines that other programs print.

const { Program } = require('./helpers/program.js');

describe('a program that a test runs', () => {
    const run = script => new Program([process.execPath, '-e', script], process.env);
    const isWanted = ({ event }) => event === 'wanted';

    it('should not keep those waiting who wait for a line when it has ended', async () => {
        const program = run('console.log(JSON.stringify({ event: "last" })); process.exit(3)');

        await expect(program.line(isWanted, 60_000)).rejects.toThrow(
            'no such line before it ended with code 3; the last ones: [{"event":"last"}]',
        );
    });

    it('should have what it printed when it has ended', async () => {
        const program = run('console.log(JSON.stringify({ event: "wanted" }))');
        await program.end();

        expect(await program.line(isWanted)).toEqual({ event: 'wanted' });
    });
});
