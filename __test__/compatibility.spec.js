'use strict';

const fs = require('node:fs');
const path = require('node:path');
const ts = require('typescript');

const fixtures = require('./fixtures/datagrams.json');
const { ROOT } = require('./helpers/run-node.js');

const DOCUMENT = fs.readFileSync(path.join(ROOT, 'docs', 'compatibility.md'), 'utf8');

/** What stands for a part of a title that varies: `$title`, `%s` and the like, `${…}`. */
const VARIABLE = /\$\w+|%[a-zA-Z]|\$\{\}/g;

/** The document names tests, which come and go. */
describe('docs/compatibility.md', () => {
    const files = new Map();
    const proofs = proofsIn(DOCUMENT);

    it('should name tests', () => {
        expect(proofs.length).toBeGreaterThan(100);
    });

    it.each(proofs)('should name a test that exists: %s › %s', (file, title) => {
        if (!files.has(file)) {
            files.set(file, titlesOf(file));
        }
        const isThis = written => matches(written, title);
        expect(files.get(file).some(isThis)).toBe(true);
    });

    const rows = DOCUMENT.split('\n').filter(line => /^\| (?!what|case|example|---)/.test(line));

    it.each(rows.map(row => [row.slice(2, 60), row]))('should prove: %s', (_, row) => {
        expect(proofsIn(row)).not.toEqual([]);
    });

    const differing = fixtures.filter(({ today, expected }) => {
        return JSON.stringify(today) !== JSON.stringify(expected);
    });

    it.each(differing)('should have the datagram that is read differently: $title', ({ title }) => {
        const isNamed = ([file, name]) => {
            return file === 'fixtures.spec.js' && name.endsWith(`: ${title}`);
        };
        expect(proofs.some(isNamed)).toBe(true);
    });
});

/** What stands in code spans as `file › title`. */
function proofsIn(text) {
    const spans = [...text.matchAll(/(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)/g)];
    return spans
        .map(([, , content]) => content.split(' › '))
        .filter(parts => parts.length === 2);
}

/** Specs name their tests in words, other files are named from the root, and their functions. */
function titlesOf(file) {
    const isSpec = file.endsWith('.spec.js');
    const source = fs.readFileSync(path.join(ROOT, isSpec ? '__test__' : '', file), 'utf8');
    return isSpec
        ? titlesIn(ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true))
        : [...source.matchAll(/^\s*(?:fn|function) (\w+)/gm)].map(([, name]) => name);
}

/** First arguments of calls that are text, where functions follow: `it(title, …)` in any form. */
function titlesIn(node) {
    const titles = [];
    ts.forEachChild(node, function visit(child) {
        const [title, ...more] = ts.isCallExpression(child) ? child.arguments : [];
        if (title && ts.isStringLiteralLike(title) && more.some(ts.isFunctionLike)) {
            titles.push(title.text);
        } else if (title && ts.isTemplateExpression(title) && more.some(ts.isFunctionLike)) {
            const spans = title.templateSpans.map(({ literal }) => `\${}${literal.text}`);
            titles.push(title.head.text + spans.join(''));
        }
        ts.forEachChild(child, visit);
    });
    return titles;
}

/** Whether a title as a test was given it can be the one that is named. */
function matches(written, named) {
    const parts = written.split(VARIABLE).map(part => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
    return new RegExp(`^${parts.join('.+')}$`).test(named);
}
