import { expect, test } from 'vitest';
import { readText } from './repository.ts';

interface Locked {
  readonly resolved?: string;
  readonly integrity?: string;
  readonly hasInstallScript?: boolean;
}

const manifest = JSON.parse(readText('package.json'));
const locked = Object.entries<Locked>(JSON.parse(readText('package-lock.json')).packages).filter(
  ([path]) => path !== '',
);

test('every package we ask for is asked for in one version', () => {
  const asked = { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies };
  const loose = Object.entries<string>(asked).filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.-]+)?$/.test(version));
  expect(loose).toEqual([]);
});

test('every package comes from the registry and is checked by its hash', () => {
  const unchecked = locked.filter(([, { integrity }]) => integrity?.startsWith('sha512-') !== true);
  expect(unchecked.map(([path]) => path)).toEqual([]);
  expect(locked.filter(([, { resolved }]) => resolved !== undefined && !resolved.startsWith('https://'))).toEqual([]);
});

test('the fuzzer is asked for in one version, with all it needs', () => {
  const lines = readText('tests/harness/schemathesis.txt').trim().split('\n');
  expect(lines.filter((line) => !/^[\w.-]+==[\w.]+$/.test(line))).toEqual([]);
});
