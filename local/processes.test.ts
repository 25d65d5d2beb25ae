import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ProcessOptions, type RunningProcess, startProcess } from './processes.ts';
import { identify, sendSignal } from './running-process.ts';
import { waitUntil } from './wait-until.ts';

let directory: string;
let running: RunningProcess[];
let said: string[];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'batchgate-process-'));
  running = [];
  said = [];
});
afterEach(async () => {
  await Promise.all(running.map((process) => process.stop()));
  rmSync(directory, { recursive: true });
});

const READY = 'console.log("listening");';
const FOR_EVER = 'setInterval(() => {}, 1000);';

function options(script: string, overrides: Partial<ProcessOptions> = {}): ProcessOptions {
  const logFile = join(directory, 'child.log');
  return {
    name: 'child',
    command: process.execPath,
    args: ['-e', script],
    env: {},
    logFile,
    readyWhen: (signal) => waitUntil(async () => readFileSync(logFile, 'utf8').includes('listening'), signal, 10),
    log: (line) => said.push(line),
    ...overrides,
  };
}

async function start(script: string, overrides: Partial<ProcessOptions> = {}): Promise<RunningProcess> {
  const process = await startProcess(options(script, overrides));
  running.push(process);
  return process;
}

function within(ms: number, check: () => boolean): Promise<void> {
  return waitUntil(async () => check(), AbortSignal.timeout(ms), 10);
}

function pidOf(process: RunningProcess): number {
  const pid = process.pid();
  if (pid === undefined) throw new Error('nothing runs');
  return pid;
}

test('ends a process with its own orderly shutdown', async () => {
  const child = await start(
    `process.on('SIGTERM', () => { console.log('goodbye'); process.exit(0); }); ${READY} ${FOR_EVER}`,
  );
  const pid = pidOf(child);
  await child.stop();
  expect(await identify(pid)).toBeUndefined();
  expect(readFileSync(join(directory, 'child.log'), 'utf8')).toContain('goodbye');
  expect(said).toEqual([]);
});

test('kills a process that does not end in time', async () => {
  const child = await start(`process.on('SIGTERM', () => {}); ${READY} ${FOR_EVER}`, { stopWaitMs: 100 });
  const pid = pidOf(child);
  await child.stop();
  expect(await identify(pid)).toBeUndefined();
});

test('starts a killed process again and says so with the end of its log', async () => {
  const child = await start(`${READY} console.log('the last words'); ${FOR_EVER}`);
  const first = pidOf(child);
  sendSignal(first, 'SIGKILL');
  await within(12_000, () => child.pid() !== undefined && child.pid() !== first);
  expect(said[0]).toMatch(/^child ended unexpectedly \(signal SIGKILL\).*the last words/);
  expect(said[1]).toBe('child is running again');
});

test('keeps trying a process that fails after it had been ready once', async () => {
  const marker = join(directory, 'marker');
  writeFileSync(marker, '');
  const script = `const fs = require('node:fs'); if (!fs.existsSync(${JSON.stringify(marker)})) process.exit(1); ${READY} ${FOR_EVER}`;
  const logFile = join(directory, 'child.log');
  let starts = 0;
  const child = await start(script, {
    readyWhen: (signal) => {
      starts += 1;
      const wanted = starts === 1 ? 1 : 2;
      return waitUntil(async () => readFileSync(logFile, 'utf8').split('listening').length > wanted, signal, 10);
    },
  });
  rmSync(marker);
  sendSignal(pidOf(child), 'SIGKILL');
  await within(12_000, () => said.some((line) => line.startsWith('child did not start')));
  writeFileSync(marker, '');
  await within(12_000, () => child.pid() !== undefined);
  expect(said.at(-1)).toBe('child is running again');
});

test.each([
  ['ends before it is ready', 'console.error("no such table"); process.exit(3);', {}, /exit code 3.*no such table/],
  ['is not ready in time', FOR_EVER, { readyTimeoutMs: 100 }, /was not ready in time/],
  ['cannot be run', '', { command: '/nonexistent/temporal' }, /child cannot be run: .*ENOENT/],
])('rejects a first start that %s', async (_, script, overrides, message) => {
  await expect(startProcess(options(script, overrides))).rejects.toThrow(message);
});

test('gives up a start when asked, and leaves nothing running', async () => {
  const giveUp = new AbortController();
  let pid = 0;
  const records = {
    write: async (_: string, started: number) => {
      pid = started;
      giveUp.abort(new Error('Ctrl-C'));
    },
    remove: () => undefined,
  };
  await expect(startProcess(options(FOR_EVER, { signal: giveUp.signal, records }))).rejects.toThrow('Ctrl-C');
  expect(await identify(pid)).toBeUndefined();
});

test('stops waiting for the next start of a process that is no longer wanted', async () => {
  const child = await start(`${READY} ${FOR_EVER}`);
  const first = pidOf(child);
  sendSignal(first, 'SIGKILL');
  await within(12_000, () => child.pid() === undefined);
  await child.stop();
  expect(child.pid()).toBeUndefined();
});
