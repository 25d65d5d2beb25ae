import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { processRecords, stopOrphans } from './orphans.ts';
import { identify, sendSignal } from './running-process.ts';

let directory: string;
let sleeper: number;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'batchgate-orphans-'));
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  await new Promise((resolve) => child.once('spawn', resolve));
  sleeper = child.pid ?? 0;
});
afterEach(() => {
  sendSignal(sleeper, 'SIGKILL');
  rmSync(directory, { recursive: true });
});

const STEPS = [{ signal: 'SIGINT', waitMs: 5_000 }] as const;

test('ends a recorded process that still runs and forgets it', async () => {
  await processRecords(directory).write('temporal', sleeper);
  expect(await stopOrphans(directory, STEPS)).toEqual(['temporal']);
  expect(await identify(sleeper)).toBeUndefined();
  expect(readdirSync(directory)).toEqual([]);
});

test('leaves alone a later process that got the number of a recorded one', async () => {
  writeFileSync(join(directory, 'temporal.json'), JSON.stringify({ pid: sleeper, startedAt: 'long ago' }));
  expect(await stopOrphans(directory, STEPS)).toEqual([]);
  expect(await identify(sleeper)).toBeDefined();
});

test('passes over a record that was cut short, a removed one, and a folder that does not exist', async () => {
  const records = processRecords(directory);
  await records.write('api', sleeper);
  records.remove('api');
  writeFileSync(join(directory, 'worker.json'), '{"pid":');
  expect(await stopOrphans(directory, STEPS)).toEqual([]);
  expect(await stopOrphans(join(directory, 'none'), STEPS)).toEqual([]);
  expect(await identify(sleeper)).toBeDefined();
});
