import { expect, test } from 'vitest';
import { listFiles, readText } from './repository.ts';

const THIS_FILE = 'tests/repository/marks.test.ts';
const TEXTS = listFiles('**/*.{ts,mjs,cjs,md,yml,yaml,json,sql,prisma,sh}').filter(
  (path) => path !== THIS_FILE && path !== 'package-lock.json',
);
const TESTS = listFiles('**/*.{test,acceptance}.ts').filter((path) => path !== THIS_FILE);

// Put together from parts, so that no search for the words finds them here.
const WORDS = ['TO' + 'DO', 'FIX' + 'ME', 'HA' + 'CK', 'X'.repeat(3)];
const SWITCHES = ['on' + 'ly', 'sk' + 'ip', 'skipIf', 'runIf', 'to' + 'do', 'fails'];

const UNFINISHED = new RegExp(`\\b(?:${WORDS.join('|')})\\b`);
const SWITCHED = new RegExp(
  `\\b(?:test|it|describe|suite|bench)\\s*\\.\\s*(?:${SWITCHES.join('|')})\\b|\\b[xf](?:it|describe)\\(`,
);
const EMPTY = /\b(?:test|it)(?:\.each\(.*\))?\(.*(?:=>|\))\s*\{\s*\}\s*\)/;
const VACUOUS = /expect\(\s*(?:true|false|\d+)\s*\)/;
const MOCKED = /\bvi\s*\.\s*(?:mock|doMock|hoisted)\b/;
const UNEXPLAINED = /@ts-(?:ignore|nocheck)|@ts-expect-error\s*$|biome-ignore [\w/]+(?::\s*)?$/;

/** `path:line` of every line that matches. */
function findLines(paths: readonly string[], pattern: RegExp): string[] {
  return paths.flatMap((path) =>
    readText(path)
      .split('\n')
      .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}: ${line.trim().slice(0, 120)}`] : [])),
  );
}

test.each([
  ['no work is left marked as unfinished', TEXTS, UNFINISHED],
  ['no test is skipped, focused or only announced', TESTS, SWITCHED],
  ['no test is empty', TESTS, EMPTY],
  ['no test expects what holds whatever the code does', TESTS, VACUOUS],
  ['no module is mocked by its path', TESTS, MOCKED],
  ['no check of a line is switched off without a reason', TEXTS, UNEXPLAINED],
])('%s', (_, paths, pattern) => {
  expect(findLines(paths, pattern)).toEqual([]);
});

test('every test file expects something', () => {
  expect(TESTS.filter((path) => !/\b(?:expect|assert)\b/.test(readText(path)))).toEqual([]);
});

test.each([
  [UNFINISHED, `// ${WORDS[0]}: later`],
  [SWITCHED, `test.${SWITCHES[1]}('x', () => {`],
  [SWITCHED, `describe.${SWITCHES[0]}('x', () => {`],
  [EMPTY, "test('x', () => {});"],
  [EMPTY, "test.each([1])('x', async (n) => { });"],
  [VACUOUS, `expect(${'true'}).toBe(true)`],
  [MOCKED, "vi.mock('./x.ts')"],
  [UNEXPLAINED, '// @ts-ignore'],
  [UNEXPLAINED, '// biome-ignore lint/suspicious/noExplicitAny:'],
])('%s finds %j', (pattern, line) => {
  expect(line).toMatch(pattern);
});

test('the files that are looked at are the repository’s', () => {
  expect(TEXTS).toContain('domain/money.ts');
  expect(TESTS).toContain('domain/money.test.ts');
});
