import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT, readTable } from './repository.ts';

const threats = readTable('docs/security.md', 'Threats');

test('every threat has what stops it and at least one test that is there', () => {
  expect(threats.length).toBeGreaterThan(30);
  for (const [threat, answer, tests = ''] of threats) {
    expect(answer, threat).not.toBe('');
    const paths = tests.split(',').map((path) => path.trim());
    expect(
      paths.filter((path) => !/\.(test|acceptance)\.ts$/.test(path) || !existsSync(join(ROOT, path))),
      threat,
    ).toEqual([]);
  }
});

test.each([
  ...['another tenant', 'forgets its narrowing', 'guessed ids', 'stolen key', 'guessing keys', 'event of a provider'],
  ...['SSRF', 'rebinding', 'redirect', 'replayed', 'bomb', 'slow-loris', 'logs, histories', 'dump', 'sealing key'],
  ...['answers that are malicious', 'Web UI', 'package', 'takes all there is', 'CSV', 'forged lines'],
  ...['a customer that sees', 'insider', 'unpacks to gigabytes', 'malicious, damaged', 'as a path'],
  ...['formula in rows of documents', 'instructions inside a document'],
])('the threat model speaks of %s', (name) => {
  const named = threats.filter(([threat = '']) => threat.toLowerCase().includes(name.toLowerCase()));
  expect(named.length).toBeGreaterThan(0);
});
