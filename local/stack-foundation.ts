import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { lockDataDirectory } from './data-lock.ts';
import { type ProcessRecords, processRecords, stopOrphans } from './orphans.ts';
import { type Reaper, startReaper } from './reaper.ts';
import type { StopList } from './stop-list.ts';

/** What every process of a stack stands on. */
export interface StackFoundation {
  dataDirectory: string;
  reaper: Reaper;
  records: ProcessRecords;
}

export interface FoundationOptions {
  dataDirectory: string;
  ephemeral: boolean;
  environment: Record<string, string | undefined>;
  onProgress: (line: string) => void;
}

/** SIGINT and not SIGTERM: Postgres would wait for its clients to leave first. */
const ORPHAN_STEPS = [{ signal: 'SIGINT', waitMs: 30_000 }] as const;

/**
 * Claims the data folder (for an ephemeral stack a temporary one, removed at the end) and ends what an earlier stack on
 * it left running. Throws one sentence when another stack has the folder.
 */
export async function layFoundation(options: FoundationOptions, stops: StopList): Promise<StackFoundation> {
  const dataDirectory = options.ephemeral ? temporaryDirectory() : resolve(options.dataDirectory);
  if (options.ephemeral) stops.add('temporary data', () => rmSync(dataDirectory, { recursive: true, force: true }));
  const lock = lockDataDirectory(dataDirectory);
  stops.add('data lock', () => lock.release());

  const reaper = startReaper(options.environment);
  stops.add('reaper', () => reaper.stop());
  if (options.ephemeral) reaper.removeOnDeath(dataDirectory);

  const running = join(dataDirectory, 'run');
  const orphans = await stopOrphans(running, ORPHAN_STEPS);
  if (orphans.length > 0) options.onProgress(`stopped what an earlier run left: ${orphans.join(', ')}`);
  return { dataDirectory, reaper, records: processRecords(running) };
}

function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'batchgate-'));
  // Postgres may run as another user, who has to pass.
  chmodSync(directory, 0o711);
  return directory;
}
