import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { StackReady } from './stack-options.ts';

const RunningStack = z.looseObject({
  api_url: z.string(),
  tenant_key: z.string(),
  operator_key: z.string(),
});

/** Where a stack that runs on a data folder answers, and the keys it takes. */
export type RunningStack = z.infer<typeof RunningStack>;

/** Leaves the ready line in the data folder for other commands, readable by its owner alone, and returns what takes it away. */
export function leaveReadyFile(dataDirectory: string, ready: StackReady): () => void {
  const file = readyFile(dataDirectory);
  const unfinished = `${file}.unfinished`;
  rmSync(unfinished, { force: true });
  writeFileSync(unfinished, `${JSON.stringify(ready)}\n`, { mode: 0o600 });
  renameSync(unfinished, file);
  return () => rmSync(file, { force: true });
}

/** The stack that said it is ready on the folder and has not taken it back; undefined when there is none. */
export function findRunningStack(dataDirectory: string): RunningStack | undefined {
  try {
    return RunningStack.parse(JSON.parse(readFileSync(readyFile(dataDirectory), 'utf8')));
  } catch {
    return undefined;
  }
}

function readyFile(dataDirectory: string): string {
  return join(dataDirectory, 'ready.json');
}
