import type pg from 'pg';
import { type ItemEndState, itemStateCode } from '../domain/item-state.ts';
import type { JobRecord } from './job-view.ts';
import { listNeverRunItems } from './never-run-items.ts';
import {
  ITEM_COLUMNS,
  type ItemRecord,
  type ItemViewRow,
  type SettledItem,
  toItemRecord,
  toSettledItem,
} from './result-rows.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;
type JobKey = Pick<
  JobRecord,
  'uuid' | 'bucket' | 'manifestNo' | 'firstItemNo' | 'completedAt' | 'itemCount' | 'isNeverRun'
>;

/** A page is read in pieces of this many rows, so that long answers end it before they fill the memory. */
const MAX_PIECE_ROWS = 500;
const MIN_PIECE_ROWS = 4;
/** Before anything is known of how long the job's answers are. */
const FIRST_PIECE_ROWS = 16;

export interface ResultFilter {
  readonly status?: ItemEndState | undefined;
  readonly customId?: string | undefined;
}

export interface ResultPageLimits {
  readonly maxRows: number;
  /** Of reply bodies. At least one row is returned however long it is. */
  readonly maxBytes: number;
}

export interface ResultPage {
  readonly rows: readonly SettledItem[];
  /** False when a limit ended the page before the rows did. */
  readonly isComplete: boolean;
}

/** Positions in the order of settlement: after the first, up to the last. */
export interface SeqRange {
  readonly afterSeq: number;
  readonly throughSeq: number;
}

/** Reads at most so many rows of a range, in order; fewer only where the range holds no more. */
type ReadPiece = (range: SeqRange, limit: number) => Promise<readonly SettledItem[]>;

/**
 * Settled items in the order of settlement after `afterSeq`, up to `throughSeq`. Each piece is a statement of its own,
 * so no transaction lasts as long as its reader.
 */
export async function listResults(
  db: Queryable,
  job: JobKey,
  filter: ResultFilter,
  range: SeqRange,
  limits: ResultPageLimits,
): Promise<ResultPage> {
  return readPage((piece, limit) => readPiece(db, job, filter, piece, limit), range, limits);
}

/** A page of pieces, each as long as the rows before it let hope for. */
export async function readPage(read: ReadPiece, range: SeqRange, limits: ResultPageLimits): Promise<ResultPage> {
  const rows: SettledItem[] = [];
  let bytes = 0;
  let pieceRows = FIRST_PIECE_ROWS;
  while (rows.length < limits.maxRows && bytes < limits.maxBytes) {
    const wanted = Math.min(pieceRows, limits.maxRows - rows.length);
    const afterSeq = rows.at(-1)?.seq ?? range.afterSeq;
    const piece = await read({ afterSeq, throughSeq: range.throughSeq }, wanted);
    const pieceBytes = piece.reduce((sum, row) => sum + (row.body?.length ?? 0), 0);
    rows.push(...piece);
    bytes += pieceBytes;
    if (piece.length < wanted) return { rows, isComplete: true };
    const fitting = Math.floor((limits.maxBytes - bytes) / Math.max(1, pieceBytes / piece.length));
    pieceRows = Math.max(MIN_PIECE_ROWS, Math.min(MAX_PIECE_ROWS, fitting));
  }
  return { rows, isComplete: false };
}

async function readPiece(
  db: Queryable,
  job: JobKey,
  filter: ResultFilter,
  range: SeqRange,
  limit: number,
): Promise<SettledItem[]> {
  if (job.isNeverRun) {
    const isNone = filter.status !== undefined && filter.status !== 'cancelled';
    return isNone ? [] : listNeverRunItems(db, job, filter, range, limit);
  }
  const values: unknown[] = [job.bucket, job.uuid, range.afterSeq, range.throughSeq, limit];
  const conditions: string[] = [];
  if (filter.status !== undefined) conditions.push(`AND o.state = $${values.push(itemStateCode(filter.status))}`);
  if (filter.customId !== undefined) {
    const [customId, manifestNo] = [values.push(filter.customId), values.push(job.manifestNo)];
    conditions.push(`AND i.custom_id = $${customId} AND i.manifest_no = $${manifestNo}`);
  }
  const { rows } = await db.query<ItemViewRow>(
    `SELECT ${ITEM_COLUMNS}
     FROM item_outcomes o
     JOIN batch_items i ON i.bucket = $1 AND i.job_id = $2 AND i.item_no = o.item_no
     LEFT JOIN item_results r ON r.bucket = $1 AND r.job_id = $2 AND r.item_no = o.item_no
     WHERE o.bucket = $1 AND o.job_id = $2 AND o.seq > $3 AND o.seq <= $4 ${conditions.join(' ')}
     ORDER BY o.seq LIMIT $5`,
    values,
  );
  return rows.map(toSettledItem);
}

/** An item in any state, the last of its retry chain; null for a custom id the job does not have. */
export async function findItem(db: Queryable, job: JobKey, customId: string): Promise<ItemRecord | null> {
  if (job.isNeverRun) {
    const [item] = await listNeverRunItems(db, job, { customId }, { afterSeq: 0, throughSeq: job.itemCount }, 1);
    return item ?? null;
  }
  const { rows } = await db.query<ItemViewRow>(
    `SELECT ${ITEM_COLUMNS}, s.state AS shard_state, s.attempt AS shard_attempt
     FROM batch_items i
     LEFT JOIN item_outcomes o ON o.bucket = $1 AND o.job_id = $2 AND o.item_no = i.item_no
     LEFT JOIN item_results r ON r.bucket = $1 AND r.job_id = $2 AND r.item_no = i.item_no
     LEFT JOIN LATERAL (
       SELECT state, attempt FROM batch_shards
       WHERE job_id = $2 AND i.item_no BETWEEN first_item_no AND last_item_no AND state <> 'superseded'
         AND requested_model = coalesce(i.requested_model, '')
       ORDER BY shard DESC LIMIT 1
     ) s ON true
     WHERE i.bucket = $1 AND i.job_id = $2 AND i.manifest_no = $3 AND i.custom_id = $4
     ORDER BY i.item_attempt DESC LIMIT 1`,
    [job.bucket, job.uuid, job.manifestNo, customId],
  );
  return rows[0] === undefined ? null : toItemRecord(rows[0]);
}
