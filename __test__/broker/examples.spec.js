'use strict';

// The examples cannot be run where there is no Docker and no Kubernetes. What is checked: that they
// can be read, that they agree with each other, and that what they name is there and is understood.

const { execFileSync, spawn } = require('node:child_process');
const { once } = require('node:events');
const { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { createInterface } = require('node:readline');
const { parseAllDocuments } = require('yaml');

const { scripts } = require('../../package.json');
const { Broker, modulePath } = require('../helpers/broker.js');
const { createScene } = require('../helpers/hosts-scene.js');
const { describeHosts } = require('../helpers/lan.js');
const { describeModules } = require('../helpers/servers.js');
const { variables } = require('../helpers/variables.js');

const root = join(__dirname, '..', '..');

const DOCKERFILE = read('Dockerfile');
const COMPOSE = documents('docker-compose.yml')[0];
const KUBERNETES = ['rbac', 'statefulset', 'deployment', 'networkpolicy']
    .flatMap(name => documents(`kubernetes/${name}.yaml`));
const WORKLOADS = KUBERNETES.filter(({ kind }) => ['Deployment', 'StatefulSet'].includes(kind));
const CONTAINERS = WORKLOADS.flatMap(({ spec }) => spec.template.spec.containers);
const PINNED = /:\d+\.\d+\.?\d*(-[a-z]+)*$/;

describe('the examples', () => {
    it('should pin their images', () => {
        const images = [
            ...Object.values(COMPOSE.services).map(({ image }) => image),
            ...CONTAINERS.map(({ image }) => image),
            ...[...DOCKERFILE.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image),
        ];
        expect(images.length).toBeGreaterThan(6);
        images.forEach(image => expect(image).toMatch(PINNED));
    });

    it('should use variables that there are', () => {
        const used = [
            ...Object.keys(COMPOSE.services.redis.environment),
            ...CONTAINERS.flatMap(({ env = [] }) => env.map(({ name }) => name)),
        ];
        expect(used.length).toBeGreaterThan(3);
        used.forEach(name => expect(variables()).toContain(name));
    });

    it('should name commands that there are', () => {
        const text = DOCKERFILE + read('docker-compose.yml');
        const named = [...text.matchAll(/npm run ([\w:-]+)/g)].map(([, name]) => name);
        expect(named).toContain('build');
        named.forEach(name => expect(scripts).toHaveProperty([name]));
    });

    it('should allow brokers to follow pods, and nothing else', () => {
        const [role, binding, account] = ['Role', 'RoleBinding', 'ServiceAccount'].map(one);
        expect(role.rules).toEqual([
            { apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] },
        ]);
        expect(binding.roleRef).toMatchObject({ kind: 'Role', name: role.metadata.name });
        expect(binding.subjects).toEqual([
            { kind: 'ServiceAccount', name: account.metadata.name },
        ]);
        for (const { spec } of WORKLOADS) {
            expect(spec.template.spec.serviceAccountName).toBe(account.metadata.name);
        }
    });

    it('should let announcements and Redis through', () => {
        const [announcements, brokers] = KUBERNETES.filter(({ kind }) => kind === 'NetworkPolicy')
            .map(({ spec }) => ({ ...spec, ports: spec.ingress[0].ports, from: spec.ingress[0].from }));
        expect(announcements.ports).toEqual([{ protocol: 'UDP', port: 63_000 }]);
        expect(brokers.ports).toEqual([{ protocol: 'TCP', port: 6379 }]);
        expect(announcements.from).toEqual([{ podSelector: brokers.podSelector }]);
        expect(brokers.from).toEqual([{ podSelector: announcements.podSelector }]);
        for (const { spec } of WORKLOADS) {
            expect(spec.template.metadata.labels).toMatchObject(brokers.podSelector.matchLabels);
            expect(spec.template.metadata.labels).toMatchObject(spec.selector.matchLabels);
        }
        const { args } = container('imq-announcer');
        const [label] = Object.entries(announcements.podSelector.matchLabels);
        expect(args[args.indexOf('--selector') + 1]).toBe(label.join('='));
    });

    it('should probe the sidecar where it answers', () => {
        const { args, livenessProbe, ports, readinessProbe } = container('imq-announcer');
        const [{ containerPort, name }] = ports;
        expect(args[args.indexOf('--health-port') + 1]).toBe(String(containerPort));
        expect(livenessProbe.httpGet).toEqual({ path: '/healthz', port: name });
        expect(readinessProbe.httpGet).toEqual({ path: '/readyz', port: name });
        expect(one('Deployment').spec.template.metadata.annotations['prometheus.io/port'])
            .toBe(String(containerPort));
    });

    it('should leave brokers the time to take their leave', () => {
        for (const { spec } of WORKLOADS) {
            const { containers, terminationGracePeriodSeconds } = spec.template.spec;
            expect(terminationGracePeriodSeconds).toBeGreaterThanOrEqual(30);
            const { lifecycle } = containers.find(({ name }) => name === 'redis');
            expect(lifecycle.preStop.exec.command.join(' ')).toMatch(/sleep 1$/);
        }
    });

    it('should build from sources that are there, and from all that it takes', () => {
        const context = mkdtempSync(join(tmpdir(), 'imqueue-context-'));
        const ignored = read('Dockerfile.dockerignore').split('\n');
        const copied = [...DOCKERFILE.matchAll(/^COPY ((?!--from).*) \S+$/gm)]
            .flatMap(([, sources]) => sources.split(' '));
        try {
            for (const source of copied) {
                expect(ignored).toContain(`!${source}`);
                cpSync(join(root, source), join(context, source), { recursive: true });
            }
            // Fails where the manifest of a crate names what is not there.
            execFileSync('cargo', ['metadata', '--format-version', '1', '--no-deps', '--offline'], {
                cwd: context, stdio: ['ignore', 'ignore', 'inherit'],
            });
            const [, script] = /^RUN node (\S+)$/m.exec(DOCKERFILE);
            expect(existsSync(join(context, script))).toBe(true);
        } finally {
            rmSync(context, { recursive: true });
        }
    });
});

describeModules('the examples, when they are run', () => {
    let broker;

    afterEach(() => broker?.close());

    it.each([
        ['by compose', COMPOSE.services.redis.command],
        ['by the StatefulSet', container('redis').args],
    ])('should load the module into Redis %s', async (_, [server, ...args]) => {
        const loaded = join('/usr/lib/redis/modules/', args.at(-1).split('/').at(-1));
        expect(args.at(-1)).toBe(loaded);
        expect(DOCKERFILE).toMatch(/^COPY --from=build .* \/usr\/lib\/redis\/modules\/$/m);
        const module = loaded.split('/').at(-1);
        const config = args.map(argument => ({
            '/data': tmpdir(), [loaded]: modulePath(module),
        })[argument] ?? argument);

        // On loopback it announces nothing, which would leave this host.
        broker = await Broker.start({
            config: ['--bind', '127.0.0.1', ...config], module: null, server,
        });
        await broker.logged('nothing is announced: Redis listens on loopback only');
        const modules = await broker.call('MODULE', 'LIST');
        expect(`${modules[0][1]}.so`).toBe(module);
        expect(broker.log).not.toMatch(/argument|is not known/);
    });

    it('should say goodbye as the StatefulSet does before it ends', async () => {
        const { args, lifecycle } = container('redis');
        const allowed = args.indexOf('--enable-module-command');
        broker = await Broker.start({
            config: ['--bind', '127.0.0.1', ...args.slice(allowed, allowed + 2)],
            module: 'unicaster.so',
        });
        const [shell, flag, script] = lifecycle.preStop.exec.command;
        const here = script.replace('redis-cli', `redis-cli -p ${broker.port}`);
        expect(execFileSync(shell, [flag, here], { encoding: 'utf8' })).toBe('OK\n');
        expect(await broker.call('MODULE', 'LIST')).toEqual([]);

        // It is not there any more, which Redis refuses to unload.
        expect(() => execFileSync(shell, [flag, here], { stdio: 'ignore' })).toThrow();
    });

    it('should give the sidecar arguments that it understands', () => {
        const { args, env } = container('imq-announcer');
        const given = Object.fromEntries(env.map(({ name, value }) => [name, value]));
        const said = execFileSync(modulePath('imq-announcer'), [...args, '--print-config'], {
            encoding: 'utf8', env: { ...process.env, ...given },
        });
        expect(said).toMatch(/^recipe +kubernetes$/m);
        expect(said).toMatch(/^to +pods \(app\.kubernetes\.io\/component=imqueue-service\)/m);
    });
});

describeHosts('the service of the examples', () => {
    const scene = createScene(2);
    let service;

    afterEach(() => service?.kill('SIGKILL'));

    it('should tell which brokers come and go, and end when it is told to', async () => {
        const [command, ...args] = [...scene.lan.within(1), ...COMPOSE.services.service.command];
        service = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
        const ended = once(service, 'close');
        const lines = createInterface({ input: service.stdout })[Symbol.asyncIterator]();
        await said(lines, 'listening');

        const broker = await scene.redis(2);
        await said(lines, 'joined 10.77.0.2:6379');
        broker.signal('SIGTERM');
        await said(lines, 'left 10.77.0.2:6379');
        service.kill('SIGTERM');
        expect(await ended).toEqual([0, null]);
    });
});

/** Resolves once a line is this. */
async function said(lines, text) {
    for (;;) {
        const { done, value } = await lines.next();
        if (done) {
            throw new Error(`it has ended without a line "${text}"`);
        }
        if (value === text) {
            return;
        }
    }
}

/** The container of that name; of two, the one with the module. */
function container(wanted) {
    return CONTAINERS.find(({ name }) => name === wanted);
}

function one(kind) {
    return KUBERNETES.find(document => document.kind === kind);
}

function documents(file) {
    return parseAllDocuments(read(file)).map(document => {
        const [problem] = [...document.errors, ...document.warnings];
        if (problem) {
            throw problem;
        }
        return document.toJS();
    });
}

function read(file) {
    return readFileSync(join(root, 'examples', file), 'utf8');
}
