import type pg from 'pg';
import type { DataDeletion, DataDeletionList, RequestDeletion } from '../../contracts/data-deletion.ts';
import { isStorable } from '../../contracts/metadata.ts';
import { recordAudit } from '../../db/audit-log.ts';
import {
  countDeletion,
  type DeletionCounts,
  findDataDeletion,
  insertDataDeletion,
  type LeftAtProvider,
  listDataDeletions,
  listLeftAtProviders,
  type DataDeletion as StoredDeletion,
} from '../../db/data-deletions.ts';
import { countDeletedDocuments, type DeletedDocuments } from '../../db/due-documents.ts';
import type { IdempotentRequest } from '../../db/idempotency-keys.ts';
import { newId } from '../../db/ids.ts';
import { inTransaction } from '../../db/transaction.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Principal } from '../../domain/principal.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentTime } from '../presentation/time.ts';
import { type CustomerRequest, getCustomer } from './customers.ts';
import { type KeptAnswer, once } from './once.ts';
import { type PageWish, pageById } from './page-by-id.ts';

type Dependencies = Pick<ApiDependencies, 'db' | 'now' | 'workflows'>;

const MAX_LEFT_SHOWN = 100;

/**
 * Has all content of a customer's jobs and documents deleted, of those that there are now: at once where they have ended, else
 * after their end. Throws `not_found`.
 */
export async function requestDeletion(
  dependencies: Dependencies,
  request: CustomerRequest &
    RequestDeletion & { readonly principal: Principal; readonly idempotency: IdempotentRequest | null },
): Promise<KeptAnswer> {
  const { db, now, workflows } = dependencies;
  const { principal, tenantId, customerId, reason, idempotency } = request;
  await getCustomer(dependencies, { tenantId, customerId });
  const wanted = {
    ...{ deletionId: newId('dataDeletion'), tenantId, customerId, reason },
    ...{ requestedBy: principal.keyId, requestedAt: now() },
  };
  const answer = await inTransaction(db, (client) =>
    once(client, idempotency, async () => {
      await insertDataDeletion(client, wanted);
      const details = { deletion_id: wanted.deletionId };
      const entry = { actor: principal.keyId, tenantId, subject: customerId, details };
      await recordAudit(client, { ...entry, act: 'customer.data_deleted' });
      const body = await report(client, { ...wanted, draftsDeleted: 0, endedAt: null });
      return { status: 202, body: JSON.stringify(body) };
    }),
  );
  // Where Temporal is away the next run of the schedule does it.
  await workflows.runRetention();
  return answer;
}

/** Throws `not_found`. */
export async function getDeletion(
  dependencies: Dependencies,
  { deletionId, ...customer }: CustomerRequest & { readonly deletionId: string },
): Promise<DataDeletion> {
  await getCustomer(dependencies, customer);
  const { pool } = dependencies.db;
  const found = isStorable(deletionId) ? await findDataDeletion(pool, { ...customer, deletionId }) : null;
  if (found === null) throw new GatewayError('not_found', 'The customer has no such deletion.');
  return report(pool, found);
}

async function report(db: Pick<pg.ClientBase, 'query'>, deletion: StoredDeletion): Promise<DataDeletion> {
  const counts = await countDeletion(db, deletion);
  const documents = await countDeletedDocuments(db, deletion);
  return present(deletion, { counts, documents, left: await listLeftAtProviders(db, deletion, MAX_LEFT_SHOWN) });
}

/** A customer's, by id. Throws `not_found`. */
export async function listDeletions(
  dependencies: Dependencies,
  { tenantId, customerId, ...wish }: PageWish & CustomerRequest,
): Promise<DataDeletionList> {
  await getCustomer(dependencies, { tenantId, customerId });
  const read = (page: { readonly after: string | null; readonly limit: number }) =>
    listDataDeletions(dependencies.db.pool, { tenantId, customerId }, page);
  return pageById('data_deletions', wish, read, { idOf: ({ deletionId }) => deletionId, present: presentSummary });
}

function presentSummary(deletion: StoredDeletion): DataDeletionList['data'][number] {
  return {
    deletion_id: deletion.deletionId,
    tenant_id: deletion.tenantId,
    customer_id: deletion.customerId,
    reason: deletion.reason,
    state: deletion.endedAt === null ? 'running' : 'completed',
    requested_by: deletion.requestedBy,
    requested_at: deletion.requestedAt.toISOString(),
    completed_at: presentTime(deletion.endedAt),
  };
}

interface Found {
  readonly counts: DeletionCounts;
  readonly documents: DeletedDocuments;
  readonly left: readonly LeftAtProvider[];
}

function present(deletion: StoredDeletion, { counts, documents, left }: Found): DataDeletion {
  return {
    ...presentSummary(deletion),
    deleted: {
      jobs: counts.deleted,
      drafts: deletion.draftsDeleted,
      requests: counts.requests,
      results: counts.results,
      artifacts: counts.artifactsDeleted,
      documents: documents.deleted,
      provider_batches: counts.providerBatchesDeleted,
    },
    waiting: {
      open_jobs: counts.open,
      jobs_being_removed: counts.removing,
      held_jobs: counts.held,
      artifacts: counts.artifactsLeft,
      documents: documents.left,
      held_documents: documents.held,
    },
    left_at_providers: left.map(({ jobId, provider, batches, expiresAt }) => ({
      ...{ job_id: jobId, provider, batches },
      expires_at: presentTime(expiresAt),
    })),
    kept: kept(counts),
  };
}

function kept({ jobs, schedulesLeft }: DeletionCounts): DataDeletion['kept'] {
  return [
    {
      what: 'accounts',
      count: jobs,
      why: 'What was charged has to be shown: jobs, items, usage, money and custom ids.',
    },
    { what: 'hashes', count: jobs, why: 'They prove what was asked and answered, and say nothing of it.' },
    { what: 'audit_log', count: null, why: 'Who did what; it holds no content.' },
    ...(schedulesLeft > 0
      ? [
          {
            what: 'schedules' as const,
            count: schedulesLeft,
            why: 'A recurring job has its template until it is deleted.',
          },
        ]
      : []),
  ];
}
