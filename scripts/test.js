'use strict';

// `npm test`: sets up what the tests need, runs the Rust tests and the jest specs, and adds them
// up. A run of fewer tests than are known to exist fails, so that none is skipped by accident:
// raise the numbers when you add tests.

const { spawn } = require('node:child_process');
const { mkdtempSync, readFileSync, readdirSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { dirname, join, relative, sep } = require('node:path');
const { stripVTControlCharacters } = require('node:util');

const { ensureNode } = require('./nodes.js');
const { SERVERS, ensureServer } = require('./setup-other-redis.js');
const { ensureRedis } = require('./setup-redis.js');

const RUST_TESTS = 377;
const JEST_TESTS = 1370;

/** The ends of a process are tried on these versions of Node.js too, where they are installed. */
const OTHER_NODES = [22, 24, 26];

/** Tests in network namespaces need root on Linux; elsewhere they are skipped. */
const ALL_TESTS_RUN = process.platform === 'linux' && process.getuid() === 0;

/** Heads the list of what failed. `.ci/run` shows it again at its end. */
const FAILURES = 'Failures';
const LINES_OF_A_FAILURE = 12;

/** What the tests need, and the script that builds it. Modules of Redis are for Linux. */
const BUILDS = {
    'the addon': 'build',
    ...process.platform === 'linux' && { 'what brokers load': 'build:broker' },
};

const root = join(__dirname, '..');

main().catch(error => {
    console.error(`npm test: ${error.message}`);
    process.exitCode = 1;
});

async function main() {
    ensureRedis();
    if (ALL_TESTS_RUN) {
        OTHER_NODES.forEach(ensureNode);
    }
    const missing = process.platform === 'linux' ? missingServers() : [];
    for (const [what, script] of Object.entries(BUILDS)) {
        heading(`Building ${what}`);
        const build = await run('npm', ['run', '--silent', script]);
        if (build.code !== 0) {
            throw new Error(`${what} cannot be built`);
        }
    }

    heading('Rust tests');
    const rust = await rustTests();
    heading('JavaScript tests');
    const jest = await jestTests();

    const complaints = [
        ...tooFew('Rust', rust.passed + rust.failed, RUST_TESTS),
        ...tooFew('JavaScript', jest.passed + jest.failed + jest.skipped, JEST_TESTS),
    ];
    if (jest.skipped > 0) {
        const skipped = `${jest.skipped} JavaScript tests were skipped`;
        if (missing.length > 0) {
            console.log(`\n${skipped}, among them those for a server that cannot be had:`);
            missing.forEach(reason => console.log(reason));
        } else if (ALL_TESTS_RUN) {
            complaints.push(`${skipped}, which never happens as root on Linux`);
        } else {
            console.log(`\n${skipped}: they make network namespaces, or use other`
                + ' versions of Node.js; as root on Linux all of them run.');
        }
    }
    const failures = [...rust.failures, ...jest.failures, ...complaints];
    if (failures.length > 0) {
        heading(FAILURES);
        failures.forEach(failure => console.log(failure));
    }

    const failed = rust.failed + jest.failed + complaints.length;
    console.log(`\n${rust.passed + jest.passed} passed, ${failed} failed`);
    process.exitCode = failed === 0 ? 0 : 1;
}

async function rustTests() {
    const { code, output } = await run('cargo', [
        'test', '--workspace', '--locked', '--no-fail-fast',
    ]);
    const results = [...output.matchAll(/^test result: .* (\d+) passed; (\d+) failed/gm)];
    const [passed, failed] = [1, 2].map(
        group => results.reduce((sum, result) => sum + Number(result[group]), 0),
    );

    const failures = [...output.matchAll(/^test (.*) \.\.\. FAILED$/gm)].map(([, name]) => name);

    return { passed, failed: failuresOf(code, failed), failures };
}

/** Why servers to load modules into cannot be had. Tests go on without them. */
function missingServers() {
    return Object.keys(SERVERS).flatMap(name => {
        try {
            ensureServer(name);
            return [];
        } catch (error) {
            return [error.message];
        }
    });
}

/** The specs in folders load the machine; side by side they would disturb each other's timing. */
async function jestTests() {
    const folders = readdirSync(join(root, '__test__'), { recursive: true })
        .filter(file => file.endsWith('.spec.js') && dirname(file) !== '.')
        .map(file => dirname(file).split(sep)[0]);
    const heavy = `__test__/(${[...new Set(folders)].join('|')})/`;

    return add(
        await jestRun(['--testPathIgnorePatterns', heavy]),
        await jestRun(['--runInBand', '--testPathPatterns', heavy]),
    );
}

async function jestRun(args) {
    const directory = mkdtempSync(join(tmpdir(), 'imqueue-udp-test-'));
    const report = join(directory, 'report.json');
    try {
        const jest = require.resolve('jest/bin/jest');
        const { code } = await run(process.execPath, [
            jest, '--json', `--outputFile=${report}`, ...args,
        ]);
        const result = JSON.parse(readFileSync(report, 'utf8'));
        const failed = result.numFailedTests + result.numRuntimeErrorTestSuites;

        return {
            passed: result.numPassedTests,
            failed: failuresOf(code, failed),
            skipped: result.numPendingTests + result.numTodoTests,
            failures: result.testResults.flatMap(failuresIn),
        };
    } finally {
        rmSync(directory, { recursive: true, force: true });
    }
}

/** What failed in a spec file, and how each failure begins: in a long log it is hard to find. */
function failuresIn({ name, message, assertionResults }) {
    const failed = assertionResults.filter(({ status }) => status === 'failed');
    const reasons = failed.length > 0
        ? failed.map(({ fullName, failureMessages }) => `${fullName}\n${failureMessages.join('\n')}`)
        : [message].filter(Boolean);

    return reasons.map(reason => `${relative(root, name)}: ${beginning(reason)}`);
}

function beginning(text) {
    const lines = stripVTControlCharacters(text).split('\n');

    return lines.filter(line => line.trim() !== '').slice(0, LINES_OF_A_FAILURE).join('\n    ');
}

function add(one, other) {
    return {
        passed: one.passed + other.passed,
        failed: one.failed + other.failed,
        skipped: one.skipped + other.skipped,
        failures: [...one.failures, ...other.failures],
    };
}

/** What does not compile, or dies before it can report, is a failure too. */
function failuresOf(code, reported) {
    return code !== 0 && reported === 0 ? 1 : reported;
}

function tooFew(kind, count, known) {
    return count < known
        ? [`only ${count} ${kind} tests ran where ${known} are known to exist`]
        : [];
}

function heading(title) {
    console.log(`\n=== ${title}`);
}

/** Runs a program, showing what it prints; resolves with its exit code and its standard output. */
function run(command, args) {
    return new Promise((resolve, reject) => {
        const child = spawn(command, args, {
            cwd: root,
            stdio: ['ignore', 'pipe', 'inherit'],
            shell: process.platform === 'win32',
        });
        let output = '';
        child.stdout.setEncoding('utf8').on('data', chunk => {
            output += chunk;
            process.stdout.write(chunk);
        });
        child.once('error', reject);
        child.once('close', code => resolve({ code, output }));
    });
}
