'use strict';

const { existsSync } = require('node:fs');

const { Program } = require('../helpers/program.js');

test('the fake API server also is a program, for processes that are on other hosts', async () => {
    const program = Program.start('kubernetes-api.js', { namespace: 'team-1' });
    try {
        const { url, files, env } = await program.line(({ event }) => event === 'listening');
        expect(url).toBe(`https://127.0.0.1:${env.KUBERNETES_SERVICE_PORT}`);
        expect(existsSync(`${files}/ca.crt`)).toBe(true);

        await program.ask(JSON.stringify(['setPod', 'web-1', { ip: '10.1.0.1' }]));
        const { value } = await program.ask(JSON.stringify(['count', 'list']));
        expect(value).toBe(0);
        expect((await program.ask(JSON.stringify(['requests']))).value).toEqual([]);

        expect(await program.end()).toBe(0);
        expect(existsSync(files)).toBe(false);
    } finally {
        await program.kill();
    }
});
