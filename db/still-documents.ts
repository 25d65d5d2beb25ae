import type pg from 'pg';
import { fromUuid } from './ids.ts';

type Queryable = Pick<pg.Pool, 'query'>;

/** A document that is being processed, and that nobody has been at for long. */
export interface StillDocument {
  readonly documentId: string;
  readonly tenantId: string;
  readonly runId: string;
  readonly attempts: number;
  /** When somebody should have been at it. */
  readonly since: Date;
}

/**
 * Of runs that are not over: documents whose lease or wait was over before the given time, and those of a batch job that has
 * ended before then with nothing left to be done about them. Any of them, where there are more than `limit`.
 */
export async function listStillDocuments(db: Queryable, before: Date, limit: number): Promise<StillDocument[]> {
  const { rows } = await db.query<Omit<StillDocument, 'documentId' | 'runId'> & { uuid: string; runUuid: string }>(
    `SELECT * FROM (
       SELECT d.document_id AS uuid, d.tenant_id AS "tenantId", d.run_id AS "runUuid", d.attempts,
         coalesce(d.leased_until, d.next_attempt_at, j.completed_at) AS since
       FROM document_runs r JOIN documents d ON d.run_id = r.run_id AND d.state = 'processing' JOIN batch_jobs j ON j.job_id = r.run_id
       WHERE r.state = 'running'
     ) still WHERE since < $1 ORDER BY random() LIMIT $2`,
    [before, limit],
  );
  return rows.map(({ uuid, runUuid, ...row }) => ({
    ...row,
    documentId: fromUuid('doc', uuid),
    runId: fromUuid('documentRun', runUuid),
  }));
}
