import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { AttemptRow } from '../db/attempts.ts';
import type { Database } from '../db/client.ts';
import type { JobRow } from '../db/job-rows.ts';
import { readOpenItems } from '../db/open-items.ts';
import type { ShardRow } from '../db/shards.ts';
import { encodeProviderItemId } from '../domain/attempt-token.ts';
import { mergeRequestDefaults } from '../domain/merge-defaults.ts';
import type { BatchProvider } from '../providers/provider.ts';
import { beat } from './heartbeats.ts';

/**
 * Writes the input file of an attempt: every open item of the shard under the attempt's token, in order. Memory does
 * not grow with the shard. Answers the file's path and how many items it holds; the caller removes the file.
 */
export async function buildInput(
  db: Database,
  provider: BatchProvider,
  input: { job: JobRow; shard: ShardRow; attempt: AttemptRow; workDirectory: string; signal: AbortSignal },
): Promise<{ path: string; items: number }> {
  const { job, shard, attempt, workDirectory, signal } = input;
  await mkdir(workDirectory, { recursive: true });
  const file = path.join(workDirectory, `${attempt.attemptToken}-${process.pid}.input`);
  const { prefix, separator, suffix } = provider.inputFraming;
  const defaults = job.requestDefaults === null ? null : JSON.parse(job.requestDefaults);
  let items = 0;

  async function* chunks(): AsyncGenerator<string> {
    yield prefix;
    for await (const page of readOpenItems(db.pool, job.key, shard)) {
      beat();
      const lines = page.map(({ itemNo, body }) => {
        const own = JSON.parse(body);
        return provider.encodeItem({
          providerItemId: encodeProviderItemId(attempt.attemptToken, itemNo),
          endpoint: job.endpoint,
          model: shard.providerModel,
          request: defaults === null ? own : mergeRequestDefaults(defaults, own),
        });
      });
      yield (items === 0 ? '' : separator) + lines.join(separator);
      items += page.length;
    }
    yield suffix;
  }

  await pipeline(chunks, createWriteStream(file), { signal });
  return { path: file, items };
}
