import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';

const WORKFLOWS = fileURLToPath(new URL('../workflows/index.ts', import.meta.url));
const MAIN = fileURLToPath(new URL('bundle-main.ts', import.meta.url));

/** The workflow code as one bundle, from source. */
export async function bundleWorkflows(): Promise<{ code: string }> {
  return bundleWorkflowCode({ workflowsPath: WORKFLOWS });
}

/**
 * The same, made in a process of its own: the bundler takes some 180 MB that a worker, which runs for weeks, would never
 * get back. Throws with what the bundler said.
 */
export async function bundleWorkflowsApart(): Promise<{ code: string }> {
  const child = spawn(process.execPath, [MAIN], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close');
  const [code, said] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [status] = await ended;
  if (status !== 0) throw new Error(`the workflows could not be bundled:\n${said}`);
  return { code };
}
