/** Generates the Prisma client where it is missing or older than its schema. Quiet when there is nothing to say. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { childEnvironment } from '../config/env.ts';

const root = join(import.meta.dirname, '..');
const hashFile = join(root, 'generated', 'schema.sha256');
const require = createRequire(import.meta.url);

const wanted = hashOfInputs();
if (readOrNull(hashFile) !== wanted || readOrNull(join(root, 'generated', 'prisma', 'client.ts')) === null) generate();

/** Everything the generated code depends on. */
function hashOfInputs(): string {
  const hash = createHash('sha256');
  hash.update(readFileSync(join(root, 'prisma', 'schema.prisma')));
  hash.update(readFileSync(require.resolve('@prisma/client/package.json')));
  return hash.digest('hex');
}

function generate(): void {
  const cli = findCli();
  if (cli === null) {
    console.error(
      'The Prisma client is not generated: run `npm install` with dev dependencies, or copy generated/ here.',
    );
    process.exitCode = 1;
    return;
  }
  // A run cut short leaves no hash that speaks for half a client.
  rmSync(hashFile, { force: true });
  const { status, stdout, stderr, error } = spawnSync(process.execPath, [cli, 'generate'], {
    cwd: root,
    encoding: 'utf8',
    env: childEnvironment({
      // Any existing file will do: generating needs no engine, and naming one keeps Prisma from downloading it.
      PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
      PRISMA_HIDE_UPDATE_MESSAGE: '1',
      CHECKPOINT_DISABLE: '1',
    }),
  });
  if (status !== 0) {
    console.error(`prisma generate failed${error === undefined ? '' : ` (${error.message})`}:\n${stdout}${stderr}`);
    process.exitCode = 1;
    return;
  }
  mkdirSync(join(root, 'generated'), { recursive: true });
  writeFileSync(hashFile, wanted);
}

function findCli(): string | null {
  try {
    return require.resolve('prisma/build/index.js');
  } catch {
    return null;
  }
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
