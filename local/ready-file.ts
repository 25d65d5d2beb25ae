import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { StackReady } from './stack-options.ts';

const Url = z.string().nullable();
const Ready = z.object({
  ready: z.literal(true),
  api_url: z.string(),
  admin_key: z.string(),
  operator_key: z.string(),
  tenant_key: z.string(),
  temporal_address: z.string(),
  temporal_ui_url: Url,
  temporal_namespace: z.string(),
  database_url: z.string(),
  simulators: z.object({ openai_url: Url, anthropic_url: Url, gemini_url: Url, control_url: Url }),
}) satisfies z.ZodType<StackReady>;

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
export function findRunningStack(dataDirectory: string): StackReady | undefined {
  try {
    return Ready.parse(JSON.parse(readFileSync(readyFile(dataDirectory), 'utf8')));
  } catch {
    return undefined;
  }
}

function readyFile(dataDirectory: string): string {
  return join(dataDirectory, 'ready.json');
}
