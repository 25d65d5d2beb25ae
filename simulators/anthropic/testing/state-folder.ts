import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A folder for the state of simulators, removed with the test. */
export async function stateFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'simulator-state-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
