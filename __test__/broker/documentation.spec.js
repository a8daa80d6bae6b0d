'use strict';

const { execFileSync } = require('node:child_process');
const { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');

const { scripts } = require('../../package.json');
const { modulePath } = require('../helpers/broker.js');
const { Lan, describeHosts } = require('../helpers/lan.js');
const { describeModules } = require('../helpers/servers.js');
const { variables } = require('../helpers/variables.js');

const root = join(__dirname, '..', '..');
const PAGE = readFileSync(join(root, 'docs', 'brokers.md'), 'utf8');
const ROWS = PAGE.split('\n').filter(line => /^\| (`|–)/.test(line)).map(line => line.split(' | '));

const VARIABLE = /\b(?:REDIS_BROADCAST|IMQ_ANNOUNCER)_[A-Z_]+|SELECTED_INTERFACES|DEPLOYMENT_ENV/g;

describe('docs/brokers.md', () => {
    it('should list every variable, and none that there is not', () => {
        const listed = ROWS.flatMap(([first]) => first.match(VARIABLE) ?? []);
        expect(listed.sort()).toEqual(variables());
        expect(variables()).toEqual(expect.arrayContaining(PAGE.match(VARIABLE)));
    });

    it('should name the arguments by which modules know the variables', () => {
        const forModules = variables(['redis-module', 'unicaster']);
        const known = ROWS.filter(([first]) => forModules.includes(first.match(VARIABLE)?.[0]));
        expect(known).toHaveLength(forModules.length);
        for (const [first, argument] of known) {
            const [variable] = first.match(VARIABLE);
            const expected = variable.replace('REDIS_BROADCAST_', '').toLowerCase()
                .replaceAll('_', '-');
            expect(argument).toBe(`\`${expected}\``);
        }
    });

    it('should name files and commands that there are', () => {
        const files = [...PAGE.matchAll(/(?<![\w/])(?:examples|docs)\/[\w./-]+\w/g)];
        expect(files.length).toBeGreaterThan(5);
        files.forEach(([file]) => expect(existsSync(join(root, file))).toBe(true));
        const dist = [...PAGE.matchAll(/dist\/([\w.-]+\w)/g)].map(([, name]) => name);
        dist.forEach(name => expect(existsSync(modulePath(name))).toBe(true));
        const named = [...PAGE.matchAll(/npm run ([\w:]+)/g)].map(([, name]) => name);
        expect(named).not.toEqual([]);
        named.forEach(name => expect(scripts).toHaveProperty([name]));
    });
});

describeModules('docs/brokers.md and what it documents', () => {
    const help = () => execFileSync(modulePath('imq-announcer'), ['--help'], {
        encoding: 'utf8', env: { PATH: process.env.PATH },
    });

    it('should list every flag of imq-announcer with its variable', () => {
        // A flag, and after its description the variable.
        const flags = [...help().matchAll(/^ +(--[a-z-]+)[^]*?\[env: (\w+)/gm)]
            .filter(([, flag]) => flag !== '--print-config');
        expect(flags.length).toBeGreaterThan(25);
        for (const [, flag, variable] of flags) {
            const row = ROWS.find(([first]) => first.match(VARIABLE)?.[0] === variable);
            expect(row).toContain(`\`${flag}\``);
        }
    });

    it.each([
        ['REDIS_BROADCAST_NAME', /^name +(.*)$/m],
        ['REDIS_BROADCAST_INTERVAL', /^interval +(.*)s$/m],
        ['REDIS_BROADCAST_PORT', /port (\d+)$/m],
        ['REDIS_BROADCAST_REPLICAS', /^replicas +(.*)$/m],
        ['SELECTED_INTERFACES', /^interfaces +(.*)$/m],
        ['IMQ_ANNOUNCER_REDIS', /^redis +(.*)$/m],
        ['IMQ_ANNOUNCER_USER', /^user +(.*)$/m],
        ['IMQ_ANNOUNCER_PASSWORD', /^password +(.*)$/m],
        ['IMQ_ANNOUNCER_TLS', /^tls +(.*)$/m],
    ])('should say the default of %s', (variable, pattern) => {
        const said = execFileSync(modulePath('imq-announcer'), ['broadcast', '--print-config'], {
            encoding: 'utf8', env: { PATH: process.env.PATH },
        });
        const row = ROWS.find(([first]) => first.match(VARIABLE)?.[0] === variable);
        expect(row.at(-2)).toBe(pattern.exec(said)[1]);
    });

    it('should say which glibc they need', () => {
        const [, promised] = /glibc (2\.\d+)/.exec(PAGE);
        for (const name of ['promoter.so', 'unicaster.so', 'imq-announcer']) {
            const symbols = execFileSync('objdump', ['-T', modulePath(name)], { encoding: 'utf8' });
            const newest = Math.max(...[...symbols.matchAll(/GLIBC_2\.(\d+)/g)].map(
                ([, minor]) => Number(minor),
            ));
            expect(newest).toBeLessThanOrEqual(Number(promised.split('.')[1]));
        }
    });
});

describeHosts('docs/brokers.md, followed to the letter', () => {
    let directory;
    let lan;

    beforeEach(() => {
        directory = mkdtempSync(join(tmpdir(), 'imqueue-docs-'));
        lan = new Lan(1);
    });

    afterEach(async () => {
        await lan?.close();
        rmSync(directory, { recursive: true, force: true });
    });

    it('should announce the Redis of Debian, and let it leave', () => {
        const [etc, lib, log] = ['settings', 'modules', 'logs'].map(name => join(directory, name));
        const logfile = join(log, 'redis-server.log');
        [etc, lib, log].forEach(path => mkdirSync(path));
        writeFileSync(join(etc, 'redis.conf'), [
            // Of Debian's own, what matters here.
            'bind 127.0.0.1 -::1', 'protected-mode yes', 'port 6379', 'daemonize yes',
            `logfile ${logfile}`, `dir ${directory}`, `pidfile ${join(directory, 'pid')}`,
            '',
        ].join('\n'));
        const [, steps] = /^## Debian[^]*?^```sh\n([^]*?)^```/m.exec(PAGE);
        const [, leave] = /`(redis-cli -e MODULE UNLOAD promoter[^`]*)`/.exec(PAGE);
        const script = `
            set -e
            sudo() { "$@"; }
            systemctl() {
                redis-server ${etc}/redis.conf
                trap 'redis-cli shutdown nosave' EXIT
                until grep -q 'announc' ${logfile}; do sleep 0.05; done
            }
            ${steps}
            ${leave}
            sudo grep promoter /var/log/redis/redis-server.log
        `
            .replaceAll('/etc/redis', etc)
            .replaceAll('/usr/lib/redis', lib)
            .replaceAll('/var/log/redis', log)
            .replace(/^ +/gm, '');

        const [command, ...args] = [...lan.within(1), 'bash', '-c', script];
        const said = execFileSync(command, args, { cwd: root, encoding: 'utf8', timeout: 20_000 });
        expect(said).toMatch(/announcing 10\.77\.0\.1:6379 \(plain\) as "imq-broker"/);
        expect(said).toMatch(/10\.77\.0\.1:6379 \(plain\): stopped announcing/);
    });
});
