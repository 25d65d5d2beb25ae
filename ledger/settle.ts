import type pg from 'pg';
import type { Database } from '../db/client.ts';
import { endUnanswered } from '../db/document-ends.ts';
import type { JobKey, JobRow } from '../db/job-rows.ts';
import type { StagedLine } from '../db/result-stage.ts';
import type { ShardRow } from '../db/shards.ts';
import { inTransaction } from '../db/transaction.ts';
import { type ItemState, itemStateCode } from '../domain/item-state.ts';
import { ledgerEvent } from '../domain/ledger-entry.ts';
import { type Amount, formatNumeric } from '../domain/money.ts';
import { keepsContent } from '../domain/storage-terms.ts';
import { drawFromHolds } from './draw.ts';
import { moveItems } from './move-items.ts';
import { lockProgress, recordProgress, type SettledGroup } from './settled-counts.ts';
import { tellSafetyBlocked } from './tell-safety-blocked.ts';

/** A range of item numbers of one shard, both ends included. */
export interface SettleRange {
  readonly job: JobRow;
  readonly shard: ShardRow;
  readonly attempt: number;
  readonly firstItemNo: number;
  readonly lastItemNo: number;
}

/** How items without a result line end. */
export interface Remainder {
  readonly state: ItemState;
  readonly failureClass: string;
  readonly code: string;
  readonly message: string;
  readonly nativeError: string | null;
}

/**
 * Settles the staged lines of one attempt in a range: the best line of each item, once. Answers how many items it settled.
 * Throws, and settles nothing, when the stage holds another number of lines of the range than were put there: it was
 * lost in a crash of the database, or changed by a reader that had been taken for dead.
 */
export async function settleStaged(
  db: Database,
  range: SettleRange,
  attemptNo: string,
  stagedLines: number,
): Promise<number> {
  return settle(db, range, { chosen: CHOSEN_FROM_STAGE, staged: STAGED_IN_RANGE, stagedLines }, [attemptNo]);
}

/** Ends every item of the range that has no outcome in one way, free of charge. Answers how many items it ended. */
export async function settleRemainder(
  db: Database,
  range: SettleRange,
  remainder: Remainder,
  itemNos: readonly number[] | null = null,
): Promise<number> {
  return settle(db, range, FROM_ITEMS, remainderValues(range, remainder, itemNos));
}

/** The same in the caller's transaction, in which the job's row is locked. */
export async function settleRemainderOf(
  client: pg.PoolClient,
  range: SettleRange,
  remainder: Remainder,
  itemNos: readonly number[],
): Promise<number> {
  const { settled } = await settleUnderLock(client, range, FROM_ITEMS, remainderValues(range, remainder, itemNos));
  return settled;
}

/**
 * Settles one line in the caller's transaction: an answer that came to its item alone. Whose job and progress rows are locked
 * in it, and whose holds `charge` is still to be drawn from, for budgets come last. `settled` is 0 where the item has its
 * outcome already.
 */
export async function settleLine(
  client: pg.PoolClient,
  of: Omit<SettleRange, 'firstItemNo' | 'lastItemNo'>,
  line: StagedLine,
): Promise<{ readonly settled: number; readonly charge: Amount }> {
  const range = { ...of, firstItemNo: line.itemNo, lastItemNo: line.itemNo };
  return settleUnderLock(client, range, { chosen: CHOSEN_FROM_LINE, staged: '0', stagedLines: 0 }, lineValues(line));
}

interface Source {
  readonly chosen: string;
  readonly staged: string;
  readonly stagedLines: number;
}

/** The whole settlement of a range in one short transaction. */
async function settle(
  db: Database,
  range: SettleRange,
  source: Source,
  parameters: readonly unknown[],
): Promise<number> {
  const { job } = range;
  return inTransaction(
    db,
    async (client) => {
      const { settled, charge, groups, lastSeq } = await settleUnderLock(client, range, source, parameters);
      if (settled === 0) return 0;
      if (job.kind === 'document') await endUnanswered(client, job.key, range);
      await drawFromHolds(client, job.key, job.submissionNo, charge);
      await tellSafetyBlocked(client, job, lastSeq, groups);
      return settled;
    },
    { statementTimeoutMs: 0, setWise: true },
  );
}

/**
 * The gate is the insert into item_outcomes: result, ledger, item, counts, rollups and money move only for the rows it
 * returns, and only for items that had none, so a replay, a second worker or a doubled line changes nothing. The progress row
 * is locked first: it serialises a job's settlements and numbers the results. So no conflict is left to ignore (which would
 * cost half of the statement's time): a row that came in between would be our own fault, and ends the transaction by the
 * primary key.
 */
async function settleUnderLock(
  client: pg.PoolClient,
  range: SettleRange,
  source: Source,
  parameters: readonly unknown[],
): Promise<{ settled: number; charge: Amount; groups: readonly SettledGroup[]; lastSeq: number }> {
  const { job, shard } = range;
  const progress = await lockProgress(client, job.key.uuid);
  const lastSeq = progress.last_seq;
  const { rows: found } = await client.query<FoundGroup>(settleStatement(source.chosen, source.staged, job.key), [
    job.key.uuid,
    job.key.bucket,
    range.firstItemNo,
    range.lastItemNo,
    shard.requestedModel,
    shard.shard,
    range.attempt,
    lastSeq,
    job.submissionNo,
    ...parameters,
  ]);
  const staged = found[0]?.staged;
  if (staged !== source.stagedLines) {
    throw new Error(`of ${source.stagedLines} staged lines ${staged} are left: the files have to be read again`);
  }
  const groups = found.filter(hasItems);
  if (groups.length === 0) return { settled: 0, charge: 0n, groups, lastSeq };
  return { ...(await recordProgress(client, range, progress, groups)), groups, lastSeq };
}

/** At least one row, with what was staged; without a group where nothing settled. */
type FoundGroup = { staged: number } & (SettledGroup | { [column in keyof SettledGroup]: null });

function hasItems(row: FoundGroup): row is FoundGroup & SettledGroup {
  return row.items !== null;
}

const NOT_SETTLED = `NOT EXISTS (SELECT 1 FROM item_outcomes o
    WHERE o.job_id = $1 AND o.bucket = $2 AND o.item_no BETWEEN $3 AND $4 AND o.item_no = i.item_no)`;
const IN_SHARD = `i.job_id = $1 AND i.bucket = $2 AND i.item_no BETWEEN $3 AND $4 AND coalesce(i.requested_model, '') = $5`;

/** Successes first, then by file and line: whichever copy of a doubled line comes first is the one that counts. */
const CHOSEN_FROM_STAGE = `
  SELECT DISTINCT ON (s.item_no) s.item_no, s.state, s.failure_class, s.error_code, s.input_tokens, s.cached_input_tokens,
    s.cache_write_tokens, s.long_cache_write_tokens, s.output_tokens, s.reasoning_tokens, s.usage_estimated, s.amount, s.customer_amount, s.model, s.response_hash, s.body,
    s.error_message, s.native_error
  FROM result_stage s JOIN batch_items i ON ${IN_SHARD} AND i.item_no = s.item_no
  WHERE s.attempt_no = $10 AND s.item_no BETWEEN $3 AND $4 AND ${NOT_SETTLED}
  ORDER BY s.item_no, s.rank, s.file, s.line`;

const CHOSEN_FROM_ITEMS = `
  SELECT i.item_no, $10::smallint AS state, $11::text AS failure_class, $12::text AS error_code, 0::bigint AS input_tokens,
    0::bigint AS cached_input_tokens, 0::bigint AS cache_write_tokens, 0::bigint AS long_cache_write_tokens, 0::bigint AS output_tokens, 0::bigint AS reasoning_tokens,
    false AS usage_estimated, 0::numeric AS amount, NULL::numeric AS customer_amount, ''::text AS model, NULL::bytea AS response_hash, NULL::text AS body,
    $13::text AS error_message, $14::text AS native_error
  FROM batch_items i
  WHERE ${IN_SHARD} AND ($15::int[] IS NULL OR i.item_no = ANY($15)) AND ${NOT_SETTLED}`;

const CHOSEN_FROM_LINE = `
  SELECT i.item_no, $10::smallint AS state, $11::text AS failure_class, $12::text AS error_code, $13::bigint AS input_tokens,
    $14::bigint AS cached_input_tokens, $15::bigint AS cache_write_tokens, $16::bigint AS long_cache_write_tokens, $17::bigint AS output_tokens, $18::bigint AS reasoning_tokens,
    $19::boolean AS usage_estimated, $20::numeric AS amount, $21::numeric AS customer_amount, $22::text AS model, $23::bytea AS response_hash, $24::text AS body,
    $25::text AS error_message, $26::text AS native_error
  FROM batch_items i WHERE ${IN_SHARD} AND ${NOT_SETTLED}`;

const FROM_ITEMS: Source = { chosen: CHOSEN_FROM_ITEMS, staged: '0', stagedLines: 0 };

/** In the order of CHOSEN_FROM_ITEMS. */
function remainderValues(
  { job }: SettleRange,
  { state, failureClass, code, message, nativeError }: Remainder,
  itemNos: readonly number[] | null,
): unknown[] {
  const kept = keepsContent(job.terms.storage) ? nativeError : null;
  return [itemStateCode(state), failureClass, code, message, kept, itemNos];
}

/** In the order of CHOSEN_FROM_LINE. */
function lineValues({ usage, customerAmount = null, ...line }: StagedLine): unknown[] {
  return [
    line.state,
    line.failureClass,
    line.errorCode,
    usage.inputTokens,
    usage.cachedInputTokens,
    usage.cacheWriteTokens,
    usage.longCacheWriteTokens ?? 0,
    usage.outputTokens,
    usage.reasoningTokens,
    usage.estimated,
    formatNumeric(line.amount),
    customerAmount === null ? null : formatNumeric(customerAmount),
    line.model,
    line.responseHash === null ? null : Buffer.from(line.responseHash, 'hex'),
    line.body,
    line.errorMessage,
    line.nativeError,
  ];
}

/** In the statement that settles, and so of the same moment. */
const STAGED_IN_RANGE = `
  (SELECT count(*)::int FROM result_stage s WHERE s.attempt_no = $10 AND s.item_no BETWEEN $3 AND $4)`;

/** Written straight into the partitions of the job's bucket: finding them row by row costs a fifth of the time. */
function settleStatement(chosen: string, staged: string, { kind, bucket }: JobKey): string {
  return `
    WITH chosen AS MATERIALIZED (${chosen}),
    gate AS (
      INSERT INTO item_outcomes_${bucket} (bucket, job_id, item_no, seq, shard, attempt, state, failure_class, error_code, input_tokens,
        cached_input_tokens, cache_write_tokens, long_cache_write_tokens, output_tokens, reasoning_tokens, usage_estimated, amount, customer_amount, model, response_hash)
      SELECT $2::int, $1::uuid, item_no, $8::int + row_number() OVER (ORDER BY item_no), $6::int, $7::int, state, failure_class, error_code, input_tokens,
        cached_input_tokens, cache_write_tokens, long_cache_write_tokens, output_tokens, reasoning_tokens, usage_estimated, amount, customer_amount, model, response_hash
      FROM chosen
      RETURNING item_no, state, failure_class, error_code, input_tokens, cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens,
        usage_estimated, amount, customer_amount, settled_at
    ),
    contents AS (
      INSERT INTO item_results_${bucket} (bucket, job_id, item_no, body, error_message, native_error)
      SELECT $2::int, $1::uuid, item_no, body, error_message, native_error FROM chosen JOIN gate USING (item_no)
    ),
    charges AS (
      INSERT INTO ledger_entries_${bucket} (bucket, subject_id, item_no, event, ordinal, amount, actor, cause)
      SELECT $2::int, $1::uuid, item_no, '${ledgerEvent(kind, 'item.settled')}', $9::int, amount, 'gateway', 'result' FROM gate WHERE amount <> 0 OR state = ${itemStateCode('completed')}
    ),
    ${moveItems(bucket, 'i.item_no BETWEEN $3 AND $4', '$6')}
    SELECT stage.staged, groups.state, groups.error_code, groups.items, groups.amount, groups.customer_amount
    FROM (SELECT ${staged} AS staged) stage
    LEFT JOIN (SELECT state, error_code, items, amount, customer_amount FROM groups) groups ON true`;
}
