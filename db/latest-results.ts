import type pg from 'pg';
import { itemStateCode } from '../domain/item-state.ts';
import type { JobRecord } from './job-view.ts';
import { listNeverRunItems } from './never-run-items.ts';
import { ITEM_COLUMNS, type ItemViewRow, type SettledItem, toSettledItem } from './result-rows.ts';
import { type ResultFilter, type ResultPage, type ResultPageLimits, readPage, type SeqRange } from './results.ts';
import { findRetryJobs, type RetryFamily } from './retry-family.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;
type LatestOf = Pick<
  JobRecord,
  'uuid' | 'bucket' | 'manifestNo' | 'firstItemNo' | 'completedAt' | 'itemCount' | 'isNeverRun'
>;

/** A filter may leave out nearly everything: a statement looks at so many originals at most. */
const MAX_LOOKED_AT = 2_000;

/**
 * Each original of a job once, in the order in which the originals settled, with the newest outcome of its retry chain: of
 * waves inside the job, and of the jobs that retry its items. `seq` is that of the original's own outcome, after which a
 * reader goes on; the filter's status is that of the newest.
 */
export async function listLatestResults(
  db: Queryable,
  job: LatestOf,
  filter: ResultFilter,
  range: SeqRange,
  limits: ResultPageLimits,
): Promise<ResultPage> {
  const reading = { db, job, filter, family: await findRetryJobs(db, job.uuid) };
  const read = job.isNeverRun ? readNeverRun : readEnded;
  return readPage((piece, limit) => read(reading, piece, limit), range, limits);
}

interface Reading {
  readonly db: Queryable;
  readonly job: LatestOf;
  readonly filter: ResultFilter;
  readonly family: RetryFamily;
}

async function readEnded(reading: Reading, { afterSeq, throughSeq }: SeqRange, limit: number): Promise<SettledItem[]> {
  const { status, customId } = reading.filter;
  if (customId !== undefined) return readNewest(reading, outcomeOf(customId), { afterSeq, throughSeq }, limit);
  const lookAt = status === undefined ? limit : Math.max(limit, MAX_LOOKED_AT);
  const rows: SettledItem[] = [];
  for (let after = afterSeq; after < throughSeq && rows.length < limit; after += lookAt) {
    const step = { afterSeq: after, throughSeq: Math.min(throughSeq, after + lookAt) };
    rows.push(...(await readNewest(reading, OUTCOMES, step, limit - rows.length)));
  }
  return rows;
}

/** Where nothing of a chain ever ran, the items ended with their job. */
async function readNeverRun(
  reading: Reading,
  { afterSeq, throughSeq }: SeqRange,
  limit: number,
): Promise<SettledItem[]> {
  const { db, job, filter } = reading;
  const rows: SettledItem[] = [];
  for (let after = afterSeq; rows.length < limit; ) {
    const ended = await listNeverRunItems(
      db,
      job,
      { customId: filter.customId },
      { afterSeq: after, throughSeq },
      limit,
    );
    const step = { afterSeq: after, throughSeq: ended.at(-1)?.seq ?? after };
    const newest = await readNewest({ ...reading, filter: {} }, itemsOf(job), step, limit);
    const retried = new Map(newest.map((row) => [row.seq, row]));
    const folded = ended.map((row) => retried.get(row.seq) ?? row);
    rows.push(...folded.filter(({ status }) => filter.status === undefined || status === filter.status));
    if (ended.length < limit) break;
    after = step.throughSeq;
  }
  return rows.slice(0, limit);
}

/**
 * Where the originals of a job are read from, and the position that orders them. `$1` is its bucket, `$2` the job, `$3` its
 * manifest. Each is looked up by a key of its own: the planner knows nothing of a job that has just run, and may otherwise
 * read all of it for a page.
 */
interface Originals {
  readonly from: string;
  readonly position: string;
  readonly customId: string | null;
}

const OUTCOMES: Originals = {
  from: `(SELECT seq, item_no FROM item_outcomes WHERE bucket = $1 AND job_id = $2) ended
    CROSS JOIN LATERAL (SELECT * FROM batch_items WHERE bucket = $1 AND job_id = $2 AND item_no = ended.item_no LIMIT 1) original`,
  position: 'ended.seq',
  customId: null,
};

function outcomeOf(customId: string): Originals {
  return {
    from: `(SELECT * FROM batch_items WHERE bucket = $1 AND job_id = $2 AND manifest_no = $3 AND custom_id = $11) original
      CROSS JOIN LATERAL (SELECT seq FROM item_outcomes WHERE bucket = $1 AND job_id = $2 AND item_no = original.item_no LIMIT 1) ended`,
    position: 'ended.seq',
    customId,
  };
}

function itemsOf({ firstItemNo }: LatestOf): Originals {
  const from = '(SELECT * FROM batch_items WHERE bucket = $1 AND job_id = $2) original';
  return { from, position: `original.item_no - ${firstItemNo - 1}`, customId: null };
}

async function readNewest(
  { db, job, filter: { status }, family }: Reading,
  { from, position, customId }: Originals,
  { afterSeq, throughSeq }: SeqRange,
  limit: number,
): Promise<SettledItem[]> {
  const { jobs, parents, buckets, manifests } = family;
  const values: unknown[] = [
    job.bucket,
    job.uuid,
    job.manifestNo,
    afterSeq,
    throughSeq,
    limit,
    jobs,
    parents,
    buckets,
    manifests,
  ];
  if (customId !== null) values.push(customId);
  const condition = status === undefined ? '' : `WHERE newest.state = $${values.push(itemStateCode(status))}`;
  const { rows } = await db.query<ItemViewRow & { readonly position: number }>(
    `WITH originals AS MATERIALIZED (
       SELECT original.*, ${position} AS position FROM ${from}
       WHERE original.manifest_no = $3 AND original.retry_of_item_no IS NULL AND ${position} > $4 AND ${position} <= $5
     )
     SELECT newest.*, original.position FROM originals original CROSS JOIN LATERAL (${NEWEST_OF_CHAIN}) newest ${condition}
     ORDER BY original.position LIMIT $6`,
    values,
  );
  return rows.map((row) => ({ ...toSettledItem(row), seq: row.position }));
}

/**
 * The newest outcome of what follows `original`. An item's successor is one attempt on under the same custom id, in the
 * same job or in one that retries it: so each step is a look-up in the unique index, once for each of those jobs, whatever
 * is known of the tables. Items that nothing follows take no step.
 */
const NEWEST_OF_CHAIN = `
  WITH RECURSIVE chain AS (
    SELECT original.bucket, original.job_id, original.item_no, original.item_attempt, original.retried_by_item_id
    UNION ALL
    SELECT next.bucket, next.job_id, next.item_no, next.item_attempt, next.retried_by_item_id
    FROM chain
    CROSS JOIN LATERAL (
      SELECT found.* FROM unnest($7::uuid[], $8::uuid[], $9::int[], $10::int[]) AS f (job_id, retry_of, bucket, manifest_no)
      CROSS JOIN LATERAL (
        SELECT * FROM batch_items
        WHERE bucket = f.bucket AND job_id = f.job_id AND manifest_no = f.manifest_no AND custom_id = original.custom_id
          AND item_attempt = chain.item_attempt + 1
        LIMIT 1
      ) found
      WHERE (f.job_id = chain.job_id OR f.retry_of = chain.job_id) AND found.item_id = chain.retried_by_item_id
      LIMIT 1
    ) next
    WHERE chain.retried_by_item_id IS NOT NULL
  )
  SELECT ${ITEM_COLUMNS}
  FROM chain
  CROSS JOIN LATERAL (
    SELECT * FROM item_outcomes WHERE bucket = chain.bucket AND job_id = chain.job_id AND item_no = chain.item_no LIMIT 1
  ) o
  CROSS JOIN LATERAL (
    SELECT * FROM batch_items WHERE bucket = chain.bucket AND job_id = chain.job_id AND item_no = chain.item_no LIMIT 1
  ) i
  LEFT JOIN LATERAL (
    SELECT * FROM item_results WHERE bucket = chain.bucket AND job_id = chain.job_id AND item_no = chain.item_no LIMIT 1
  ) r ON true
  ORDER BY chain.item_attempt DESC LIMIT 1`;
