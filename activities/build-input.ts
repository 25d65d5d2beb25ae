import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { AttemptRow } from '../db/attempts.ts';
import type { Database } from '../db/client.ts';
import type { JobRow } from '../db/job-rows.ts';
import { type OpenItem, readOpenItems } from '../db/open-items.ts';
import type { ShardRow } from '../db/shards.ts';
import type { HeldReplies } from '../db/stored-estimate.ts';
import { loadTargetPrices } from '../db/target-prices.ts';
import { encodeProviderItemId } from '../domain/attempt-token.ts';
import type { JsonObject } from '../domain/json-object.ts';
import { mergeRequestDefaults } from '../domain/merge-defaults.ts';
import { readOutputCap } from '../domain/output-cap.ts';
import type { BatchProvider } from '../providers/provider.ts';
import { UntranslatableRequest } from '../providers/untranslatable-request.ts';
import { beat } from './heartbeats.ts';
import { settleUntranslatable, type UntranslatableItem } from './untranslatable-items.ts';

interface Input {
  readonly job: JobRow;
  readonly shard: ShardRow;
  readonly attempt: AttemptRow;
  readonly provider: BatchProvider;
}

/**
 * Writes the input file of an attempt: every open item of the shard under the attempt's token, in order. Memory does
 * not grow with the shard. An item that the provider cannot be asked ends here, by itself. Answers the file's path and
 * how many items it holds; the caller removes the file.
 */
export async function buildInput(
  db: Database,
  input: Input & { workDirectory: string; signal: AbortSignal },
): Promise<{ path: string; items: number }> {
  const { job, shard, attempt, provider, workDirectory, signal } = input;
  await mkdir(workDirectory, { recursive: true });
  const file = path.join(workDirectory, `${attempt.attemptToken}-${process.pid}.input`);
  const { prefix, separator, suffix } = provider.inputFraming;
  const { heldReplies } = (await loadTargetPrices(db.pool, { ...job, uuid: job.key.uuid }))(shard);
  const encode = encoder(input, heldReplies);
  let items = 0;

  async function* chunks(): AsyncGenerator<string> {
    yield prefix;
    for await (const page of readOpenItems(db.pool, job.key, shard)) {
      beat();
      const { lines, untranslatable } = encodePage(page, encode);
      await settleUntranslatable(db, input, untranslatable);
      if (lines.length > 0) yield (items === 0 ? '' : separator) + lines.join(separator);
      items += lines.length;
    }
    yield suffix;
  }

  await pipeline(chunks, createWriteStream(file), { signal });
  return { path: file, items };
}

function encodePage(
  page: readonly OpenItem[],
  encode: (item: OpenItem) => string,
): { lines: string[]; untranslatable: UntranslatableItem[] } {
  const lines: string[] = [];
  const untranslatable: UntranslatableItem[] = [];
  for (const item of page) {
    try {
      lines.push(encode(item));
    } catch (error) {
      if (!(error instanceof UntranslatableRequest)) throw error;
      untranslatable.push({ itemNo: item.itemNo, field: error.field, message: error.message });
    }
  }
  return { lines, untranslatable };
}

function encoder({ job, shard, attempt, provider }: Input, held: HeldReplies): (item: OpenItem) => string {
  const defaults: JsonObject | null = job.requestDefaults === null ? null : JSON.parse(job.requestDefaults);
  return ({ itemNo, body }) => {
    const own: JsonObject = JSON.parse(body);
    const request = defaults === null ? own : mergeRequestDefaults(defaults, own);
    return provider.encodeItem({
      providerItemId: encodeProviderItemId(attempt.attemptToken, itemNo),
      endpoint: job.endpoint,
      model: shard.providerModel,
      request,
      // A longer reply could cost more than was set aside.
      defaultMaxOutputTokens: readOutputCap(job.endpoint, request).reasons ? held.reasoning : held.plain,
    });
  };
}
