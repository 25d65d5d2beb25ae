import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { nodeCommand } from './processes.ts';
import { identify, sendSignal } from './running-process.ts';
import { waitUntil } from './wait-until.ts';

let directory: string;
let started: number[];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'batchgate-reaper-'));
  started = [];
});
afterEach(() => {
  for (const pid of started) sendSignal(pid, 'SIGKILL');
  rmSync(directory, { recursive: true, force: true });
});

const REAPER = JSON.stringify(new URL('./reaper.ts', import.meta.url).href);

/** A parent that starts what `script` says, prints the numbers of its children, and stays. */
async function parent(script: string): Promise<{ pid: number; children: number[] }> {
  const imports = `import { spawn } from 'node:child_process';
    import { startReaper } from ${REAPER};`;
  const code = `${imports} ${script} setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await new Promise<string[]>((resolve) =>
    createInterface(child.stdout).once('line', (text) => resolve([text])),
  );
  const children = String(line).split(' ').map(Number);
  started.push(child.pid ?? 0, ...children);
  return { pid: child.pid ?? 0, children };
}

function allGone(pids: number[]): Promise<void> {
  const gone = async () => (await Promise.all(pids.map(identify))).every((identity) => identity === undefined);
  return waitUntil(gone, AbortSignal.timeout(12_000), 20);
}

const SLEEPER = `spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' })`;

test('ends the processes and removes the folder of a parent that was killed', async () => {
  const { pid, children } = await parent(`
    const reaper = startReaper({});
    const a = ${SLEEPER}, b = ${SLEEPER}, kept = ${SLEEPER};
    reaper.watch(a.pid, 'SIGINT'); reaper.watch(b.pid, 'SIGTERM'); reaper.watch(kept.pid, 'SIGTERM'); reaper.forget(kept.pid);
    reaper.removeOnDeath(${JSON.stringify(directory)});
    console.log(a.pid, b.pid, kept.pid);`);
  const [a = 0, b = 0, kept = 0] = children;
  sendSignal(pid, 'SIGKILL');
  await allGone([a, b]);
  await waitUntil(async () => !existsSync(directory), AbortSignal.timeout(5_000), 20);
  expect(await identify(kept)).toBeDefined();
});

test('leaves with its parent when told to, and keeps a folder it was told to keep', async () => {
  const code = `import { startReaper } from ${REAPER};
    const reaper = startReaper({});
    reaper.removeOnDeath(${JSON.stringify(directory)});
    reaper.keep(${JSON.stringify(directory)});
    await reaper.stop();`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: 'inherit' });
  expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(0);
  expect(existsSync(directory)).toBe(true);
});

test('a main file started with a channel ends when its parent is killed', async () => {
  const main = join(directory, 'main.mjs');
  writeFileSync(main, 'setInterval(() => {}, 1000)');
  const { command, args } = nodeCommand(main);
  const { pid, children } = await parent(`
    const child = spawn(${JSON.stringify(command)}, ${JSON.stringify(args)}, { detached: true, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    console.log(child.pid);`);
  sendSignal(pid, 'SIGKILL');
  await allGone(children);
});
