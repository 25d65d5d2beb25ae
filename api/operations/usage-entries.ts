import type { ItemUsageRecord, JobUsage } from '../../contracts/usage-record.ts';
import { lastSettledSeq, listItemUsage } from '../../db/item-usage.ts';
import type { JobScope } from '../../db/job-scope.ts';
import { sumUsageOfJobs, type UsageReading } from '../../db/usage.ts';
import { type CorrectionPosition, listCorrections } from '../../db/usage-corrections.ts';
import { listUsageJobs, type UsageJob } from '../../db/usage-jobs.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentCorrection, presentItemCharge, presentJobUsage } from '../presentation/usage.ts';

type Pool = ApiDependencies['db']['pool'];

/** Rows read in one statement. */
const PIECE_ROWS = 1_000;
/** Outcomes looked at in one statement: a window may take few of them. */
const MAX_LOOKED_AT = 5_000;
/** Jobs summed in one statement hold at most so many items together, or are one job. */
const MAX_SUMMED_ITEMS = 200_000;

/** A record, with the job it is of. */
export interface UsageEntry {
  readonly job: UsageJob;
  readonly record: JobUsage | ItemUsageRecord;
  /** A correction dated in a later month than what it corrects. */
  readonly isLate: boolean;
}

/** Where in a job's items a page ended: among its charges, or after them among its corrections. */
export interface ItemPosition {
  readonly seq: number;
  readonly correction: CorrectionPosition | null;
}

export const JOB_START: ItemPosition = { seq: 0, correction: null };

export interface ItemEntry extends UsageEntry {
  readonly position: ItemPosition;
}

export interface ItemRange {
  readonly after: ItemPosition;
  /** At most so many at once; a reader that wants no more asks for no more. */
  readonly pieceRows: number;
  readonly withCorrections: boolean;
}

/**
 * A record for each settled item of the job in the order of settlement, then one for each correction. Each piece is a
 * statement of its own, made when it is asked for: no transaction lasts as long as its reader, and no more than a piece
 * is in memory.
 */
export async function* itemEntries(
  db: Pool,
  job: UsageJob,
  reading: UsageReading,
  { after, pieceRows: limit, withCorrections }: ItemRange,
): AsyncGenerator<readonly ItemEntry[]> {
  let { seq } = after;
  const lastSeq = after.correction === null ? await lastSettledSeq(db, job) : seq;
  while (seq < lastSeq) {
    const throughSeq = seq + MAX_LOOKED_AT;
    const charges = await listItemUsage(db, job, reading.window, { afterSeq: seq, throughSeq, limit });
    seq = (charges.length === limit ? charges.at(-1)?.seq : undefined) ?? throughSeq;
    if (charges.length > 0) {
      yield charges.map((charge) => ({
        job,
        record: presentItemCharge(job, charge, reading),
        isLate: false,
        position: { seq: charge.seq, correction: null },
      }));
    }
  }
  for (let { correction } = after; withCorrections; ) {
    const corrections = await listCorrections(db, job, reading, { after: correction, limit });
    if (corrections.length > 0) {
      yield corrections.map((each) => ({
        job,
        record: presentCorrection(job, each, reading),
        isLate: each.isLate,
        position: { seq, correction: { itemNo: each.itemNo, event: each.event, ordinal: each.ordinal } },
      }));
    }
    if (corrections.length < limit) return;
    correction = corrections.at(-1) ?? correction;
  }
}

/** Every record of one job, in pieces. */
export function entriesOfJob(
  db: Pool,
  job: UsageJob,
  level: 'job' | 'item',
  reading: UsageReading,
): AsyncGenerator<readonly UsageEntry[]> {
  const whole = { after: JOB_START, pieceRows: PIECE_ROWS, withCorrections: true };
  return level === 'item' ? itemEntries(db, job, reading, whole) : sumPieces(db, [job], reading);
}

/** Every record of all jobs in scope, in the order of the jobs' ids, in pieces. */
export async function* entriesOfScope(
  db: Pool,
  scope: JobScope,
  level: 'job' | 'item',
  reading: UsageReading,
): AsyncGenerator<readonly UsageEntry[]> {
  for await (const jobs of jobPieces(db, scope, reading, null)) {
    if (level === 'job') yield* sumPieces(db, jobs, reading);
    else for (const job of jobs) yield* entriesOfJob(db, job, level, reading);
  }
}

/** Jobs that may have records, after one. */
export async function* jobPieces(
  db: Pool,
  scope: JobScope,
  { window }: UsageReading,
  afterUuid: string | null,
): AsyncGenerator<readonly UsageJob[]> {
  for (let after = afterUuid; ; ) {
    const jobs = await listUsageJobs(db, scope, window, { afterUuid: after, limit: PIECE_ROWS });
    if (jobs.length > 0) yield jobs;
    if (jobs.length < PIECE_ROWS) return;
    after = jobs.at(-1)?.uuid ?? after;
  }
}

/** The records of the jobs, summed in statements of bounded size. */
export async function sumEntries(db: Pool, jobs: readonly UsageJob[], reading: UsageReading): Promise<UsageEntry[]> {
  const entries: UsageEntry[] = [];
  for await (const piece of sumPieces(db, jobs, reading)) entries.push(...piece);
  return entries;
}

async function* sumPieces(
  db: Pool,
  jobs: readonly UsageJob[],
  reading: UsageReading,
): AsyncGenerator<readonly UsageEntry[]> {
  for (const together of splitByItems(jobs)) {
    const byUuid = new Map(together.map((job) => [job.uuid, job]));
    const records = await sumUsageOfJobs(db, [...byUuid.keys()], reading);
    if (records.length === 0) continue;
    yield records.flatMap((record) => {
      const job = byUuid.get(record.jobUuid);
      if (job === undefined) return [];
      return [{ job, record: presentJobUsage(job, record, reading), isLate: record.isLate }];
    });
  }
}

function splitByItems(jobs: readonly UsageJob[]): UsageJob[][] {
  const parts: UsageJob[][] = [];
  let items = MAX_SUMMED_ITEMS;
  for (const job of jobs) {
    items += job.itemCount;
    const last = parts.at(-1);
    if (last === undefined || items > MAX_SUMMED_ITEMS) {
      parts.push([job]);
      items = job.itemCount;
    } else last.push(job);
  }
  return parts;
}
