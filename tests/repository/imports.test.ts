import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listFiles, ROOT, readText } from './repository.ts';

const DEPCRUISE = join(ROOT, 'node_modules', '.bin', 'depcruise');
const CONFIG = '.dependency-cruiser.cjs';

/** Each file with the import planted in it and the rule that has to refuse it. */
const FORBIDDEN = [
  ['domain/a.ts', "import { x } from '../db/target.ts'", 'domain-imports'],
  ['domain/b.ts', "import { readFileSync as x } from 'node:fs'", 'domain-needs-no-package'],
  ['domain/c.ts', "import { z as x } from 'zod'", 'domain-needs-no-package'],
  ['contracts/a.ts', "import { x } from '../db/target.ts'", 'contracts-imports'],
  ['config/a.ts', "import { x } from '../domain/target.ts'", 'config-imports'],
  ['telemetry/a.ts', "import { x } from '../domain/target.ts'", 'telemetry-imports'],
  ['providers/openai/a.ts', "import { x } from '../gemini/target.ts'", 'adapters-are-strangers'],
  ['providers/a.ts', "import { x } from '../db/target.ts'", 'providers-imports'],
  ['db/a.ts', "import { x } from '../ledger/target.ts'", 'db-imports'],
  ['ledger/a.ts', "import { x } from '../activities/target.ts'", 'ledger-imports'],
  ['activities/a.ts', "import { x } from '../workflows/target.ts'", 'activities-imports'],
  ['workflows/a.ts', "import { x } from '../db/target.ts'", 'workflows-imports'],
  ['workflows/b.ts', "import { x } from '../activities/interfaces.ts'", 'workflows-types-only'],
  ['workflows/c.ts', "import { Client as x } from '@temporalio/client'", 'workflows-need-temporal-only'],
  ['worker/a.ts', "import { x } from '../api/target.ts'", 'worker-imports'],
  ['api/a.ts', "import { x } from '../providers/target.ts'", 'api-imports'],
  ['api/b.ts', "import { x } from '../workflows/target.ts'", 'api-imports'],
  ['api/operations/a.ts', "import { Hono as x } from 'hono'", 'operations-know-no-http'],
  ['cli/a.ts', "import { x } from '../db/target.ts'", 'cli-imports'],
  ['simulators/a.ts', "import { x } from '../domain/target.ts'", 'simulators-imports'],
] as const;

const ALLOWED = [
  ['contracts/ok.ts', "import { x } from '../domain/target.ts'"],
  ['ledger/ok.ts', "import { x } from '../db/target.ts'"],
  ['workflows/ok.ts', "import type { x } from '../activities/interfaces.ts'"],
  ['api/ok.ts', "import { x } from '../workflows/messages.ts'"],
  ['db/ok.test.ts', "import { x } from '../ledger/target.ts'"],
] as const;

let violations: string[];
let project: string;

beforeAll(async () => {
  project = await realpath(await mkdtemp(join(tmpdir(), 'batchgate-imports-')));
  const targets = ['domain', 'db', 'ledger', 'activities', 'workflows', 'api', 'providers', 'providers/gemini'];
  const paths = [
    ...targets.map((folder) => `${folder}/target.ts`),
    'activities/interfaces.ts',
    'workflows/messages.ts',
  ];
  for (const path of paths) await plant(path, 'export const x = 1;\nexport type X = number;\n');
  for (const [path, statement] of [...FORBIDDEN, ...ALLOWED])
    await plant(path, `${statement};\nexport const y: x = x;\n`);
  await plant('db/circle-a.ts', "import { b } from './circle-b.ts';\nexport const a = b;\n");
  await plant('db/circle-b.ts', "import { a } from './circle-a.ts';\nexport const b = a;\n");
  for (const file of [CONFIG, 'tsconfig.json', 'package.json']) await cp(join(ROOT, file), join(project, file));
  await symlink(join(ROOT, 'node_modules'), join(project, 'node_modules'));
  violations = await cruise();
}, 60_000);

afterAll(() => rm(project, { recursive: true, force: true }));

async function plant(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(project, path)), { recursive: true });
  await writeFile(join(project, path), text);
}

/** `rule: file` of every import that is refused. */
async function cruise(): Promise<string[]> {
  const folders = (await readdir(project, { withFileTypes: true })).filter((entry) => entry.isDirectory());
  const args = [DEPCRUISE, '--config', CONFIG, '--output-type', 'json', ...folders.map((entry) => entry.name)];
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, args, { cwd: project, maxBuffer: 64 * 1024 ** 2 }, (_error, stdout) => resolve(stdout));
  });
  const { summary } = JSON.parse(output) as { summary: { violations: { from: string; rule: { name: string } }[] } };
  return summary.violations.map(({ from, rule }) => `${rule.name}: ${from}`);
}

test.each(FORBIDDEN)('refuses in %s: %s', (path, _statement, rule) => {
  expect(violations).toContain(`${rule}: ${path}`);
});

test('refuses a circle', () => {
  expect(violations).toContain('no-cycles: db/circle-a.ts');
});

test.each(ALLOWED)('allows in %s: %s', (path) => {
  expect(violations.filter((violation) => violation.endsWith(`: ${path}`))).toEqual([]);
});

test('looks at every folder that holds code', () => {
  const command = JSON.parse(readText('package.json')).scripts.imports as string;
  const folders = new Set(listFiles('*/**/*.ts').map((path) => path.slice(0, path.indexOf('/'))));
  expect([...folders].filter((folder) => !command.split(' ').includes(folder))).toEqual([]);
});
