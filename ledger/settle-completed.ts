import type pg from 'pg';
import type { Database } from '../db/client.ts';
import { copyCompleted } from '../db/completed-rows.ts';
import type { JobRow } from '../db/job-rows.ts';
import type { StagedLine } from '../db/result-stage.ts';
import type { ShardRow } from '../db/shards.ts';
import { inTransaction } from '../db/transaction.ts';
import { keepsContent } from '../domain/storage-terms.ts';
import { drawFromHolds } from './draw.ts';
import { moveItems } from './move-items.ts';
import { lockProgress, recordProgress, type SettledGroup } from './settled-counts.ts';

/** Statements of the transaction in which items settle, of which each had no outcome before. */
export type Alongside = (client: pg.PoolClient, settled: readonly StagedLine[]) => Promise<void>;

/** The batch whose lines these are. */
export interface LinesOf {
  readonly job: JobRow;
  readonly shard: ShardRow;
  readonly attempt: number;
}

/**
 * Settles lines that completed as they come in, in one short transaction, without a stage: nothing that a later line says
 * can count for more, so each reply is written once, where it stays. Of several lines for one item the first counts. Under
 * the lock of the progress row no item gets an outcome between the look and the COPY, so that a replay, a second worker
 * or a doubled line changes nothing. `alongside` writes what else follows from those that settle. Answers how many items it
 * settled.
 */
export async function settleCompleted(
  db: Database,
  of: LinesOf,
  lines: readonly StagedLine[],
  alongside: Alongside | null = null,
): Promise<number> {
  const { job, shard, attempt } = of;
  if (lines.length === 0) return 0;
  return inTransaction(
    db,
    async (client) => {
      const progress = await lockProgress(client, job.key.uuid);
      const fresh = await listFresh(client, of, lines);
      if (fresh.length === 0) return 0;
      const lastSeq = progress.last_seq;
      const pointsToFiles = !keepsContent(job.terms.storage);
      const place = {
        job: job.key,
        submissionNo: job.submissionNo,
        shard: shard.shard,
        attempt,
        lastSeq,
        pointsToFiles,
      };
      await copyCompleted(client, place, fresh);
      const groups = await takeOver(client, of, fresh, lastSeq);
      const { settled, charge } = await recordProgress(client, of, progress, groups);
      if (settled !== fresh.length) throw new Error(`${fresh.length} outcomes were written for ${settled} items`);
      await alongside?.(client, fresh);
      await drawFromHolds(client, job.key, job.submissionNo, charge);
      return settled;
    },
    { statementTimeoutMs: 0, setWise: true },
  );
}

/** The first line of each item of the shard that has no outcome, in their order. */
async function listFresh(
  client: pg.PoolClient,
  { job, shard }: LinesOf,
  lines: readonly StagedLine[],
): Promise<StagedLine[]> {
  const first = new Map<number, StagedLine>();
  for (const line of lines) if (!first.has(line.itemNo)) first.set(line.itemNo, line);
  const { rows } = await client.query<{ item_no: number }>(
    `SELECT i.item_no FROM batch_items_${job.key.bucket} i
     WHERE i.job_id = $1 AND i.bucket = $2 AND i.item_no = ANY($3::int[]) AND coalesce(i.requested_model, '') = $4
       AND NOT EXISTS (SELECT 1 FROM item_outcomes_${job.key.bucket} o
         WHERE o.job_id = $1 AND o.bucket = $2 AND o.item_no = ANY($3::int[]) AND o.item_no = i.item_no)`,
    [job.key.uuid, job.key.bucket, [...first.keys()], shard.requestedModel],
  );
  const open = new Set(rows.map(({ item_no: itemNo }) => itemNo));
  return [...first.values()].filter(({ itemNo }) => open.has(itemNo));
}

/** Takes the outcomes just written over into items and rollups. Answers how many ended in which way. */
async function takeOver(
  client: pg.PoolClient,
  { job, shard }: LinesOf,
  fresh: readonly StagedLine[],
  lastSeq: number,
): Promise<SettledGroup[]> {
  const { uuid, bucket } = job.key;
  const { rows } = await client.query<SettledGroup>(
    `WITH gate AS MATERIALIZED (
       SELECT item_no, state, failure_class, error_code, input_tokens, cached_input_tokens, cache_write_tokens, output_tokens,
         reasoning_tokens, usage_estimated, amount, customer_amount, settled_at
       FROM item_outcomes_${bucket} WHERE job_id = $1::uuid AND bucket = $2::int AND seq > $3::int
     ),
     ${moveItems(bucket, 'i.item_no = ANY($4::int[])', '$5')}
     SELECT state, error_code, items, amount, customer_amount FROM groups`,
    [uuid, bucket, lastSeq, fresh.map(({ itemNo }) => itemNo), shard.shard],
  );
  return rows;
}
