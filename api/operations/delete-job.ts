import type pg from 'pg';
import { ArtifactStoreError, deleteAll } from '../../artifacts/store.ts';
import { artifactPrefix, hasArtifacts, recordArtifactsDeleted } from '../../db/artifacts.ts';
import { recordAudit } from '../../db/audit-log.ts';
import type { Database } from '../../db/client.ts';
import { endRemoval } from '../../db/content-removal.ts';
import {
  DRAFT_STATEMENT_TIMEOUT_MS,
  deleteContent,
  deleteDraftRows,
  markContentDeleted,
} from '../../db/job-deletion.ts';
import type { JobRecord } from '../../db/job-view.ts';
import { findHoldOfJob } from '../../db/legal-holds.ts';
import { inTransaction } from '../../db/transaction.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import { isTerminal } from '../../domain/job-state.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { getOwnedJob, type JobRequest } from './owned-job.ts';

type Dependencies = Pick<ApiDependencies, 'db' | 'now' | 'artifacts'>;

const LOCK_TIMEOUT_MS = 5_000;

/**
 * A draft vanishes; an ended job loses its content and keeps its accounts. What could not be removed at once, in the artifact
 * store and at providers, is removed soon. Throws `legal_hold` for a job that is held, `job_not_finished` for one that runs.
 */
export async function deleteJob(dependencies: Dependencies, request: JobRequest): Promise<void> {
  const { db, now } = dependencies;
  const job = await getOwnedJob(dependencies, request);
  if (job.state === 'draft' && (await deleteDraft(db, job, request))) return;
  if (!isTerminal(job.state) || !(await deleteEnded(db, job, { ...request, now: now() }))) {
    throw new GatewayError(
      'job_not_finished',
      'The job is being worked on. Cancel it, or delete it once it has ended.',
    );
  }
  await deleteContent(db, job);
  if (await removeArtifacts(dependencies, job)) await endRemoval(db.pool, job);
}

/** False where a store does not answer: the retention schedule goes on with it. */
async function removeArtifacts({ db, artifacts, now }: Dependencies, job: JobRecord): Promise<boolean> {
  if (job.terms.storage !== 'raw') return true;
  if (artifacts === null) return !(await hasArtifacts(db.pool, job));
  try {
    await deleteAll(artifacts, artifactPrefix(job.jobId));
  } catch (error) {
    if (!(error instanceof ArtifactStoreError)) throw error;
    return false;
  }
  await recordArtifactsDeleted(db.pool, job, now());
  return true;
}

async function requireNoHold(client: pg.PoolClient, job: JobRecord): Promise<void> {
  const holdId = await findHoldOfJob(client, job.uuid);
  if (holdId !== null)
    throw new GatewayError('legal_hold', `The content of this job is under the legal hold ${holdId} and stays.`);
}

/** False when the job is no draft any more. A lock not had in time is `job_busy`. */
async function deleteDraft(db: Database, job: JobRecord, request: JobRequest): Promise<boolean> {
  return inTransaction(
    db,
    async (client) => {
      await requireNoHold(client, job);
      if (!(await deleteDraftRows(client, job))) return false;
      await recordAudit(client, deletionOf(job, request, 'draft'));
      return true;
    },
    { lockTimeoutMs: LOCK_TIMEOUT_MS, statementTimeoutMs: DRAFT_STATEMENT_TIMEOUT_MS, setWise: true },
  );
}

/** False for a job that has not ended. */
async function deleteEnded(
  db: Database,
  job: JobRecord,
  { now, ...request }: JobRequest & { readonly now: Date },
): Promise<boolean> {
  return inTransaction(db, async (client) => {
    await requireNoHold(client, job);
    if (!(await markContentDeleted(client, job, now))) return false;
    if (job.contentDeletedAt === null) await recordAudit(client, deletionOf(job, request, 'content'));
    return true;
  });
}

function deletionOf({ jobId, tenantId }: JobRecord, { principal }: JobRequest, deleted: 'draft' | 'content') {
  return { act: 'job.deleted', actor: principal.keyId, tenantId, subject: jobId, details: { deleted } } as const;
}
