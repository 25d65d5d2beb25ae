import { cp, mkdtemp, readFile, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runNode } from '../tests/harness/run-node.ts';

const ROOT = join(import.meta.dirname, '..');

/** A copy of what the script needs, with the given packages and no generated client. */
async function copyProject(packages: readonly string[]): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'batchgate-generate-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  for (const path of ['config', 'prisma/schema.prisma', 'prisma.config.ts', 'package.json']) {
    await cp(join(ROOT, path), join(root, path), { recursive: true });
  }
  await cp(join(ROOT, 'scripts/generate-client.ts'), join(root, 'scripts/generate-client.ts'));
  for (const name of packages) {
    await cp(join(ROOT, 'node_modules', name, 'package.json'), join(root, 'node_modules', name, 'package.json'));
    await rm(join(root, 'node_modules', name), { recursive: true });
    await symlink(join(ROOT, 'node_modules', name), join(root, 'node_modules', name));
  }
  return root;
}

test('generates a client that is missing, says nothing, and does nothing the next time', async () => {
  const root = await copyProject(['prisma', 'zod', '@prisma/client']);
  const run = () => runNode([join(root, 'scripts/generate-client.ts')], {}, root);
  expect(await run()).toEqual({ status: 0, stdout: '', stderr: '' });
  const client = join(root, 'generated/prisma/client.ts');
  expect(await readFile(client, 'utf8')).toContain('PrismaClient');
  const made = await stat(client);
  expect(await run()).toEqual({ status: 0, stdout: '', stderr: '' });
  expect((await stat(client)).mtimeMs).toBe(made.mtimeMs);
});

test('says in one sentence what to do where the Prisma command is not installed', async () => {
  const root = await copyProject(['zod', '@prisma/client']);
  const { status, stderr } = await runNode([join(root, 'scripts/generate-client.ts')], {}, root);
  expect(status).toBe(1);
  expect(stderr).toMatch(/^The Prisma client is not generated: run `npm install` with dev dependencies.*\n$/);
});
