import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lockDataDirectory } from './data-lock.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'batchgate-lock-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

test('refuses a folder that is in use, in one sentence, until it is released', () => {
  const first = lockDataDirectory(directory);
  expect(() => lockDataDirectory(directory)).toThrow(
    `Batchgate already runs on ${directory} (process ${process.pid}); stop it first or choose another data folder.`,
  );
  first.release();
  first.release();
  lockDataDirectory(directory).release();
});

test('is held against other processes and freed when its holder is killed', async () => {
  const code = `import { lockDataDirectory } from ${JSON.stringify(new URL('./data-lock.ts', import.meta.url).href)};
    lockDataDirectory(${JSON.stringify(directory)}); console.log('held'); setInterval(() => {}, 1000);`;
  const holder = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = new Promise((resolve) => holder.once('exit', resolve));
  await new Promise((resolve) => holder.stdout.once('data', resolve));
  expect(() => lockDataDirectory(directory)).toThrow(`(process ${holder.pid})`);
  holder.kill('SIGKILL');
  await exited;
  lockDataDirectory(directory).release();
});

test('makes the folder when it does not exist', () => {
  lockDataDirectory(join(directory, 'new', 'data')).release();
});
