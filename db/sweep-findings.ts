import type pg from 'pg';
import type { JsonObject } from '../domain/json-object.ts';
import type { FindingKind, FindingOutcome, Repair } from '../domain/sweep-finding.ts';
import { outcomeOf } from '../domain/sweep-finding.ts';
import { jobIdOf, parseJobId } from './ids.ts';
import { kindOf } from './job-kind.ts';

type Queryable = Pick<pg.Pool, 'query'>;

export interface NewFinding {
  readonly kind: FindingKind;
  /** What it is about, in ids of ours or of a provider. */
  readonly subject: string;
  /** The public id; null for what concerns no job. */
  readonly jobId: string | null;
  readonly tenantId: string | null;
  /** Ids, counts, times and closed words. */
  readonly facts: JsonObject;
  readonly repair: Repair;
}

export interface Finding {
  /** Rises; a cursor. */
  readonly findingNo: number;
  readonly kind: FindingKind;
  readonly subject: string;
  readonly outcome: FindingOutcome;
  readonly jobId: string | null;
  readonly tenantId: string | null;
  readonly facts: JsonObject;
  /** How often it was found on its day. */
  readonly times: number;
  readonly firstFoundAt: Date;
  readonly lastFoundAt: Date;
}

const KEPT_MS = 90 * 24 * 3_600_000;

/** Notes what a sweep found, once a day (UTC) for a kind and subject; found again it is counted. Answers what became of it. */
export async function recordFinding(db: Queryable, finding: NewFinding, at: Date): Promise<FindingOutcome> {
  const { kind, subject, jobId, tenantId, facts, repair } = finding;
  const { rows } = await db.query<{ outcome: FindingOutcome }>(
    `INSERT INTO sweep_findings AS f (day, kind, subject, outcome, job_id, tenant_id, facts, first_found_at, last_found_at)
     VALUES (($1::timestamptz AT TIME ZONE 'UTC')::date, $2, $3, $4, $6, $7, $8, $1, $1)
     ON CONFLICT (kind, subject, day) DO UPDATE
       SET times = f.times + 1, outcome = $5, facts = excluded.facts, last_found_at = greatest(f.last_found_at, excluded.last_found_at)
     RETURNING outcome`,
    [
      at,
      kind,
      subject,
      outcomeOf(repair, 1),
      outcomeOf(repair, 2),
      jobId === null ? null : (parseJobId(jobId)?.uuid ?? null),
      tenantId,
      JSON.stringify(facts),
    ],
  );
  if (rows[0] === undefined) throw new Error('an insert returned no row');
  return rows[0].outcome;
}

/** Whether something was ever found of the subject, as long as findings are kept. */
export async function wasFound(db: Queryable, kind: FindingKind, subject: string): Promise<boolean> {
  const { rowCount } = await db.query('SELECT 1 FROM sweep_findings WHERE kind = $1 AND subject = $2 LIMIT 1', [
    kind,
    subject,
  ]);
  return rowCount === 1;
}

export interface FindingFilter {
  readonly kind?: FindingKind | undefined;
  readonly outcome?: FindingOutcome | undefined;
}

/** Newest first, before a number. */
export async function listFindings(
  db: Queryable,
  { kind, outcome }: FindingFilter,
  { before, limit }: { readonly before: number | null; readonly limit: number },
): Promise<Finding[]> {
  const { rows } = await db.query(
    `SELECT finding_no, kind, subject, outcome, job_id, ${kindOf('f.job_id')} AS job_kind, tenant_id, facts, times, first_found_at, last_found_at
     FROM sweep_findings f
     WHERE ($1::text IS NULL OR f.kind = $1) AND ($2::text IS NULL OR outcome = $2) AND ($3::bigint IS NULL OR finding_no < $3)
     ORDER BY finding_no DESC LIMIT $4`,
    [kind ?? null, outcome ?? null, before, limit],
  );
  return rows.map((row) => ({
    findingNo: Number(row.finding_no),
    kind: row.kind,
    subject: row.subject,
    outcome: row.outcome,
    jobId: row.job_id === null ? null : jobIdOf({ kind: row.job_kind, uuid: row.job_id }),
    tenantId: row.tenant_id,
    facts: row.facts,
    times: row.times,
    firstFoundAt: row.first_found_at,
    lastFoundAt: row.last_found_at,
  }));
}

/** Deletes what was not found for ninety days; returns how many. */
export async function purgeFindings(db: Queryable, now: Date): Promise<number> {
  const { rowCount } = await db.query('DELETE FROM sweep_findings WHERE last_found_at <= $1', [
    new Date(now.getTime() - KEPT_MS),
  ]);
  return rowCount ?? 0;
}
