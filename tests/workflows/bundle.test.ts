import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { readBundledSources, type WorkflowSources } from '../replay/workflow-sources.ts';
import { findUnpatched } from './unpatched-globals.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'batchgate-bundle-'));
  await symlink(path.join(ROOT, 'node_modules'), path.join(directory, 'node_modules'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function readBundledModules(): Promise<WorkflowSources> {
  return readBundledSources(await readFile(inject('workflowBundle'), 'utf8'));
}

/** Bundles a workflow that reaches `line` through a module between; the words of the failure, or null. */
async function bundlePlanted(line: string): Promise<string | null> {
  await writeFile(path.join(directory, 'between.ts'), `${line}\n`);
  await writeFile(
    path.join(directory, 'planted.ts'),
    `import { answer } from './between.ts';\nexport async function planted() { return answer(); }\n`,
  );
  const said: string[] = [];
  const logger = new DefaultLogger('ERROR', ({ message }) => said.push(message));
  try {
    await bundleWorkflowCode({ workflowsPath: path.join(directory, 'planted.ts'), logger });
    return null;
  } catch (error) {
    return [String(error), ...said].join('\n');
  }
}

test('the bundle exports every workflow type that anything starts', async () => {
  expect(Object.keys(await import('../../workflows/index.ts')).toSorted()).toEqual([
    'asyncTask',
    'batchJob',
    'documentRun',
    'providerBatch',
    'reconcile',
    'restoreSchedules',
    'retention',
    'scheduledJob',
    'sweep',
    'sweepDocuments',
    'sweepProviders',
    'sweepTasks',
    'sweepWebhooks',
    'webhookDelivery',
  ]);
});

test('the bundle holds workflows and domain functions, and nothing else of ours', async () => {
  const modules = [...(await readBundledModules()).keys()];
  expect(modules).toEqual(expect.arrayContaining(['workflows/batch-job.ts', 'workflows/provider-batch.ts']));
  expect(modules.filter((name) => !/^(workflows|domain)\//.test(name))).toEqual([]);
});

test('a module that a workflow reaches cannot import a Node module', async () => {
  expect(await bundlePlanted('export const answer = () => 42;')).toBeNull();
  for (const name of ['fs', 'node:fs']) {
    const planted = `import { readFileSync } from '${name}';\nexport const answer = () => readFileSync('answer');`;
    expect(await bundlePlanted(planted)).toMatch(
      new RegExp(`(importing the following disallowed modules|ERROR in)[\\s\\S]*${name}`),
    );
  }
});

test('X-09: no module of the bundle reads a clock, a random source or a locale that replay does not control', async () => {
  const modules = await readBundledModules();
  expect([...modules].flatMap(([name, source]) => findUnpatched(source).map((line) => `${name}: ${line}`))).toEqual([]);
});

test.each([
  'const now = Temporal.Now.instant();',
  'const start = performance.now();',
  'const id = crypto.randomUUID();',
  'const text = new Intl.DateTimeFormat().format();',
  "if (process.env['NODE_ENV'] === 'test') return;",
  'const hour = new Date(0).getHours();',
  'const text = amount.toLocaleString();',
  'setInterval(() => run.wake(), 1_000);',
])('such a module would be found by %s', (line) => {
  expect(findUnpatched(`// Temporal. performance\nconst url = 'https://example.com';\n${line}\n`)).toEqual([line]);
});
