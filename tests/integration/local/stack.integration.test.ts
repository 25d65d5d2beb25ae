import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lockDataDirectory } from '../../../local/data-lock.ts';
import { identify, sendSignal } from '../../../local/running-process.ts';
import { startStack } from '../../../local/stack.ts';
import type { Stack, StackOptions, StackParts } from '../../../local/stack-options.ts';
import { waitUntil } from '../../../local/wait-until.ts';

let directory: string;
let stacks: Stack[];
let said: string[];
let bootstraps: number;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'batchgate-stack-'));
  stacks = [];
  said = [];
  bootstraps = 0;
});
afterEach(async () => {
  await Promise.all(stacks.map((stack) => stack.stop()));
  rmSync(directory, { recursive: true });
});

/** A main file that answers `/readyz`, and with its environment anywhere else, on the port in `variable`. */
function answeringMain(variable: string): string {
  const path = join(directory, `${variable}.mjs`);
  writeFileSync(
    path,
    `import { createServer } from 'node:http';
     createServer((request, response) => response.end(request.url === '/readyz' ? '' : JSON.stringify(process.env)))
       .listen(Number(process.env.${variable}), '127.0.0.1');`,
  );
  return path;
}

function parts(overrides: Partial<StackParts> = {}): StackParts {
  return {
    migrate: async () => undefined,
    bootstrap: async () => {
      bootstraps += 1;
      return { adminKey: `admin-${bootstraps}`, operatorKey: 'operator', tenantKey: 'tenant' };
    },
    startSimulators: async ({ openaiPort, anthropicPort, geminiPort, controlPort, host }) => ({
      openaiUrl: `http://${host}:${openaiPort}`,
      anthropicUrl: `http://${host}:${anthropicPort}`,
      geminiUrl: `http://${host}:${geminiPort}`,
      controlUrl: `http://${host}:${controlPort}`,
      close: async () => undefined,
    }),
    searchAttributes: { TenantId: 'Keyword' },
    apiMain: answeringMain('BATCHGATE_PORT'),
    workerMain: answeringMain('BATCHGATE_WORKER_HEALTH_PORT'),
    ...overrides,
  };
}

function options(overrides: Partial<StackOptions> = {}): StackOptions {
  const environment = { ...process.env, TEMPORAL_ADDRESS: undefined, OPENAI_API_KEY: undefined };
  const dataDirectory = join(directory, 'data');
  return { port: 0, dataDirectory, ephemeral: false, environment, onProgress: (line) => said.push(line), ...overrides };
}

async function start(overrides: Partial<StackOptions> = {}): Promise<Stack> {
  const stack = await startStack(options(overrides), parts());
  stacks.push(stack);
  return stack;
}

/** Everything that runs with our folder in its command line: all of a stack but its reaper. */
async function stillRunning(): Promise<string[]> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'args']);
  return stdout.split('\n').filter((line) => line.includes(directory));
}

test('starts everything, says where it is, and when ephemeral leaves neither a process nor a file', async () => {
  const stack = await start({ ephemeral: true });
  const url = /^http:\/\/127\.0\.0\.1:\d+$/;
  expect(stack.ready).toEqual({
    ready: true,
    api_url: expect.stringMatching(url),
    admin_key: 'admin-1',
    operator_key: 'operator',
    tenant_key: 'tenant',
    temporal_address: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
    temporal_ui_url: expect.stringMatching(url),
    temporal_namespace: 'default',
    database_url: expect.stringMatching(/^postgresql:.*\/batchgate$/),
    simulators: {
      openai_url: expect.stringMatching(url),
      anthropic_url: expect.stringMatching(url),
      gemini_url: expect.stringMatching(url),
      control_url: expect.stringMatching(url),
    },
  });
  const seen = JSON.parse(await (await fetch(`${stack.ready.api_url}/environment`)).text());
  expect(seen).toMatchObject({
    DATABASE_URL: stack.ready.database_url,
    TEMPORAL_ADDRESS: stack.ready.temporal_address,
    BATCHGATE_TEMPORAL_UI_URL: stack.ready.temporal_ui_url,
  });
  const folder = join(seen.BATCHGATE_SPOOL_DIR, '..');
  expect(statSync(folder).isDirectory()).toBe(true);
  const pids = Object.values(stack.pids()).map(Number);
  expect(pids).toHaveLength(4);
  await stack.stop();
  expect(await Promise.all(pids.map(identify))).toEqual([undefined, undefined, undefined, undefined]);
  expect(await stillRunning()).toEqual([]);
  expect(statSync(folder, { throwIfNoEntry: false })).toBeUndefined();
});

test('shows the keys of the first run again, and starts a killed worker again', async () => {
  await (await start()).stop();
  const second = await start();
  expect(second.ready.admin_key).toBe('admin-1');
  expect(bootstraps).toBe(1);
  expect(statSync(join(directory, 'data', 'keys.json')).mode & 0o777).toBe(0o600);

  const killed = second.pids().worker;
  sendSignal(killed ?? 0, 'SIGKILL');
  await waitUntil(async () => ![undefined, killed].includes(second.pids().worker), AbortSignal.timeout(10_000));
  expect(said.at(-1)).toBe('worker is running again');
});

test('refuses a data folder that another stack has, in one sentence', async () => {
  const first = await start();
  await expect(startStack(options(), parts())).rejects.toThrow(
    /^Batchgate already runs on .* \(process \d+\); stop it first or choose another data folder\.$/,
  );
  expect((await fetch(`${first.ready.api_url}/readyz`)).status).toBe(200);
});

test('a start that fails half-way stops what it had started and says why', async () => {
  const workerMain = join(directory, 'broken.mjs');
  writeFileSync(workerMain, 'console.error("TENANT_SECRET is missing"); process.exit(2);');
  await expect(startStack(options(), parts({ workerMain }))).rejects.toThrow(
    /^worker did not start: it ended with exit code 2; the end of .*worker\.log: TENANT_SECRET is missing$/,
  );
  expect(await stillRunning()).toEqual([]);
  lockDataDirectory(join(directory, 'data')).release();
});

test('a start that is called off stops what it had started', async () => {
  const callOff = new AbortController();
  const migrate = async () => callOff.abort(new Error('Ctrl-C'));
  await expect(startStack(options({ signal: callOff.signal }), parts({ migrate }))).rejects.toThrow('Ctrl-C');
  expect(await stillRunning()).toEqual([]);
});

test('everything ends when the parent is killed, and the next start finds the folder as it was', async () => {
  const module = (name: string) => JSON.stringify(new URL(`../../../local/${name}`, import.meta.url).href);
  const mains = { apiMain: answeringMain('BATCHGATE_PORT'), workerMain: answeringMain('BATCHGATE_WORKER_HEALTH_PORT') };
  const printed = join(directory, 'printed');
  const script = `
    import { writeFileSync } from 'node:fs';
    import { startStack } from ${module('stack.ts')};
    const { dataDirectory, environment, ...mains } = ${JSON.stringify({ ...mains, ...options() })};
    const stack = await startStack(
      { port: 0, dataDirectory, ephemeral: false, environment, onProgress: () => {} },
      { ...mains,
        migrate: async () => {}, bootstrap: async () => ({ adminKey: 'kept', operatorKey: 'o', tenantKey: 't' }), searchAttributes: {},
        startSimulators: async () => ({ openaiUrl: 'http://127.0.0.1:1', controlUrl: 'http://127.0.0.1:2', close: async () => {} }) });
    writeFileSync(${JSON.stringify(printed)}, JSON.stringify(stack.pids()));
    process.stdout.write('ready');`;
  const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((resolve) => parent.stdout.once('data', resolve));
  const pids: number[] = Object.values(JSON.parse(readFileSync(printed, 'utf8')));
  parent.kill('SIGKILL');
  const gone = async () => (await Promise.all(pids.map(identify))).every((identity) => identity === undefined);
  await waitUntil(gone, AbortSignal.timeout(15_000));
  expect((await start()).ready.admin_key).toBe('kept');
});
