import { hash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import type { Directives } from './directives.ts';

/** Which batch was the first to run a prompt marked `[[sim:once]]`. */
export interface FirstAttempts {
  /** The directives that hold for this prompt in this batch: none once an earlier batch ran it. */
  directivesFor(prompt: string, found: Directives | undefined, batchId: string): Directives;
  /** Records that the batch ran the prompt. */
  claim(prompt: string, found: Directives | undefined, batchId: string): void;
  clear(): void;
}

const PLAIN: Directives = Object.freeze({});

/** Claims are appended to a file of `hash batch_id` lines, so they survive a restart. */
export function createFirstAttempts(path: string): FirstAttempts {
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
  const claims = new Map(lines.map((line) => line.split(' ') as [string, string]));
  const keyOf = (prompt: string) => hash('sha256', prompt);
  return {
    directivesFor(prompt, found, batchId) {
      if (found?.once === undefined) return found ?? PLAIN;
      return (claims.get(keyOf(prompt)) ?? batchId) === batchId ? found : PLAIN;
    },
    claim(prompt, found, batchId) {
      if (found?.once === undefined) return;
      const key = keyOf(prompt);
      if (claims.has(key)) return;
      claims.set(key, batchId);
      appendFileSync(path, `${key} ${batchId}\n`);
    },
    clear() {
      claims.clear();
      rmSync(path, { force: true });
    },
  };
}
