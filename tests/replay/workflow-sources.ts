import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { bundleWorkflowCode } from '@temporalio/worker';
import { quietLogger } from '../workflows/quiet-runtime.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** Modules of ours by their path from the root of the repository: what one version of the workflow code is made of. */
export type WorkflowSources = ReadonlyMap<string, string>;

/** The modules of ours that a bundle of this tree was made from, as they were written. */
export function readBundledSources(code: string): WorkflowSources {
  const encoded = code.slice(code.lastIndexOf('base64,') + 'base64,'.length);
  const map: { sources: string[]; sourcesContent: string[] } = JSON.parse(Buffer.from(encoded, 'base64').toString());
  const modules = map.sources.map((source, index) => [path.relative(ROOT, source), map.sourcesContent[index]] as const);
  return new Map(
    modules.flatMap(([name, source]) =>
      /^[a-z]+\/.*\.ts$/.test(name) && source !== undefined ? [[name, source]] : [],
    ),
  );
}

/** A bundle of such modules, by the SDK of today. */
export async function bundleSources(sources: WorkflowSources): Promise<{ code: string }> {
  const directory = await mkdtemp(path.join(tmpdir(), 'batchgate-workflows-'));
  try {
    await symlink(path.join(ROOT, 'node_modules'), path.join(directory, 'node_modules'));
    for (const [name, source] of sources) {
      await mkdir(path.dirname(path.join(directory, name)), { recursive: true });
      await writeFile(path.join(directory, name), source);
    }
    const workflowsPath = path.join(directory, 'workflows', 'index.ts');
    return await bundleWorkflowCode({ workflowsPath, logger: quietLogger });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
