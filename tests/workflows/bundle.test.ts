import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { bundleWorkflowCode } from '@temporalio/worker';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { quietLogger } from './quiet-runtime.ts';
import { findUnpatched } from './unpatched-globals.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'batchgate-bundle-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** Our own modules in the bundle and their sources, by path from the root of the repository. */
async function readBundledModules(): Promise<Map<string, string>> {
  const code = await readFile(inject('workflowBundle'), 'utf8');
  const encoded = code.slice(code.lastIndexOf('base64,') + 'base64,'.length);
  const map: { sources: string[]; sourcesContent: string[] } = JSON.parse(Buffer.from(encoded, 'base64').toString());
  const modules = map.sources.map((source, index) => [path.relative(ROOT, source), map.sourcesContent[index]] as const);
  return new Map(
    modules.flatMap(([name, source]) =>
      /^(\.\.|node_modules|webpack)/.test(name) || name.endsWith('.cjs') || source === undefined
        ? []
        : [[name, source]],
    ),
  );
}

/** Bundles a workflow that reaches `line` through a module between. */
async function bundlePlanted(line: string): Promise<unknown> {
  await writeFile(path.join(directory, 'between.ts'), `${line}\n`);
  await writeFile(
    path.join(directory, 'planted.ts'),
    `import { answer } from './between.ts';\nexport async function planted() { return answer(); }\n`,
  );
  return bundleWorkflowCode({ workflowsPath: path.join(directory, 'planted.ts'), logger: quietLogger });
}

test('the bundle exports every workflow type that anything starts', async () => {
  expect(Object.keys(await import('../../workflows/index.ts')).toSorted()).toEqual([
    'batchJob',
    'providerBatch',
    'reconcile',
    'retention',
  ]);
});

test('the bundle holds workflows and domain functions, and nothing else of ours', async () => {
  const modules = [...(await readBundledModules()).keys()];
  expect(modules).toEqual(expect.arrayContaining(['workflows/batch-job.ts', 'workflows/provider-batch.ts']));
  expect(modules.filter((name) => !/^(workflows|domain)\//.test(name))).toEqual([]);
});

test('a module that a workflow reaches cannot import a Node module', async () => {
  await expect(bundlePlanted('export const answer = () => 42;')).resolves.toHaveProperty('code');
  const planted = "import { readFileSync } from 'node:fs';\nexport const answer = () => readFileSync('/etc/hosts');";
  await expect(bundlePlanted(planted)).rejects.toThrow(/disallowed modules[\s\S]*\bfs\b/);
});

test('no module of the bundle reads a clock, a random source or a locale that replay does not control', async () => {
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
