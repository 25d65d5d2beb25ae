import type pg from 'pg';
import type { DocumentColumn, RunMode } from '../domain/document.ts';
import { fromUuid, toUuid } from './ids.ts';
import type { JobScope } from './job-scope.ts';

type Queryable = Pick<pg.Pool, 'query'>;

/** A run over documents of a batch; its job has the same uuid. */
export interface DocumentRunRow {
  readonly uuid: string;
  /** The public id. */
  readonly runId: string;
  readonly batchId: string;
  readonly tenantId: string;
  readonly projectId: string | null;
  readonly customerId: string | null;
  readonly mode: RunMode;
  readonly columns: readonly DocumentColumn[];
  /** As it was asked for. */
  readonly model: string;
  readonly documents: number;
  readonly state: 'running' | 'finished';
  /** Of a run in batch mode: the last item whose request is written. */
  readonly writtenThrough: number;
  /** The public id of the job of its repairs, of a run in batch mode. */
  readonly repairJobId: string | null;
  readonly createdAt: Date;
}

const COLUMNS = `run_id AS uuid, batch_id AS "batchId", tenant_id AS "tenantId", project_id AS "projectId", customer_id AS "customerId",
  mode, columns, model, documents, state, written_through AS "writtenThrough", repair_job_id AS "repairUuid", created_at AS "createdAt"`;

type Stored = Omit<DocumentRunRow, 'runId' | 'repairJobId'> & { readonly repairUuid: string | null };

function toRun({ repairUuid, ...row }: Stored): DocumentRunRow {
  return {
    ...row,
    runId: fromUuid('documentRun', row.uuid),
    repairJobId: repairUuid === null ? null : fromUuid('documentRun', repairUuid),
  };
}

export interface NewDocumentRun {
  readonly runId: string;
  readonly batchId: string;
  readonly owner: JobScope;
  readonly mode: RunMode;
  readonly columns: readonly DocumentColumn[];
  readonly model: string;
  readonly documents: number;
  readonly createdAt: Date;
}

/** With what it names remembered for the next run of its batch, whose row must be locked. */
export async function insertRun(client: Queryable, run: NewDocumentRun): Promise<void> {
  const { owner } = run;
  const columns = JSON.stringify(run.columns);
  await client.query(
    `INSERT INTO document_runs (run_id, batch_id, tenant_id, project_id, customer_id, mode, columns, model, documents, state, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'running', $10)`,
    [
      ...[toUuid('documentRun', run.runId), run.batchId, owner.tenantId, owner.projectId, owner.customerId],
      ...[run.mode, columns, run.model, run.documents, run.createdAt],
    ],
  );
  await client.query('UPDATE document_batches SET columns = $2, model = $3 WHERE batch_id = $1', [
    run.batchId,
    columns,
    run.model,
  ]);
}

/** What the last run of a batch named. */
export async function readRunDefaults(
  db: Queryable,
  batchId: string,
): Promise<{ readonly columns: readonly DocumentColumn[] | null; readonly model: string | null }> {
  const { rows } = await db.query<{ columns: readonly DocumentColumn[] | null; model: string | null }>(
    'SELECT columns, model FROM document_batches WHERE batch_id = $1',
    [batchId],
  );
  return rows[0] ?? { columns: null, model: null };
}

/** Null for an unknown or malformed id. */
export async function findRun(
  db: Queryable,
  runId: string,
  lock: '' | 'FOR NO KEY UPDATE' = '',
): Promise<DocumentRunRow | null> {
  const { rows } = await db.query<Stored>(`SELECT ${COLUMNS} FROM document_runs WHERE run_id = $1 ${lock}`, [
    toUuid('documentRun', runId),
  ]);
  return rows[0] === undefined ? null : toRun(rows[0]);
}

/** Throws for an unknown id. */
export async function getRun(db: Queryable, runId: string): Promise<DocumentRunRow> {
  const run = await findRun(db, runId);
  if (run === null) throw new Error(`no run ${runId}`);
  return run;
}

/** The ids of the runs of a batch that are not over. */
export async function listOpenRunsOf(db: Queryable, batchId: string): Promise<string[]> {
  const { rows } = await db.query<{ uuid: string }>(
    "SELECT run_id AS uuid FROM document_runs WHERE batch_id = $1 AND state = 'running' ORDER BY run_id",
    [batchId],
  );
  return rows.map(({ uuid }) => fromUuid('documentRun', uuid));
}

/** All requests up to this item are there. */
export async function noteWritten(client: Queryable, { uuid }: DocumentRunRow, through: number): Promise<void> {
  await client.query('UPDATE document_runs SET written_through = $2 WHERE run_id = $1', [uuid, through]);
}

/** From then on attempts of the run are of that job. */
export async function noteRepairJob(client: Queryable, { uuid }: DocumentRunRow, repairJobId: string): Promise<void> {
  await client.query('UPDATE document_runs SET repair_job_id = $2 WHERE run_id = $1', [
    uuid,
    toUuid('documentRun', repairJobId),
  ]);
}

/** False where it is over already. Its batch must be locked. */
export async function finishRun(client: Queryable, { uuid }: DocumentRunRow, now: Date): Promise<boolean> {
  const { rowCount } = await client.query(
    "UPDATE document_runs SET state = 'finished', finished_at = $2 WHERE run_id = $1 AND state = 'running'",
    [uuid, now],
  );
  return rowCount === 1;
}

/** Of the batch of a run, until the transaction ends. */
export async function lockBatchOf(client: Queryable, { batchId }: Pick<DocumentRunRow, 'batchId'>): Promise<void> {
  await client.query('SELECT 1 FROM document_batches WHERE batch_id = $1 FOR NO KEY UPDATE', [batchId]);
}

/** A run that somebody should be at work on. */
export interface OpenRun {
  readonly runId: string;
  readonly tenantId: string;
  readonly customerId: string | null;
  readonly model: string;
  readonly mode: RunMode;
  readonly documents: number;
}

/** Runs that began before the given time and are not over; any of them, where there are more than `limit`. */
export async function listOpenRuns(db: Queryable, before: Date, limit: number): Promise<OpenRun[]> {
  const { rows } = await db.query<Omit<OpenRun, 'runId'> & { uuid: string }>(
    `SELECT run_id AS uuid, tenant_id AS "tenantId", customer_id AS "customerId", model, mode, documents FROM document_runs
     WHERE state = 'running' AND created_at < $1 ORDER BY random() LIMIT $2`,
    [before, limit],
  );
  return rows.map(({ uuid, ...row }) => ({ ...row, runId: fromUuid('documentRun', uuid) }));
}
