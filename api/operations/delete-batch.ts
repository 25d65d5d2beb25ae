import type pg from 'pg';
import type { DocumentBatch } from '../../contracts/document.ts';
import { recordAudit } from '../../db/audit-log.ts';
import { getBatchView, markBatchDeleted } from '../../db/document-batches.ts';
import { cancelQueuedOfBatch } from '../../db/document-cancels.ts';
import { announceRunFinished } from '../../db/document-events.ts';
import { listOpenRunsOf } from '../../db/document-runs.ts';
import { inTransaction } from '../../db/transaction.ts';
import { batchState, hasDocumentEnded } from '../../domain/document.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentBatch } from '../presentation/document.ts';
import { type BatchRequest, getOwnedBatch } from './owned-batch.ts';

const LOCK_TIMEOUT_MS = 5_000;

/**
 * Cancels what of a batch is queued and frees its name; documents that are being processed, or on their way to a provider, finish, and
 * all of them can still be read. Where that ends the batch, its webhook is told; where a run is under way, by the end of that. Once more it does nothing.
 * Throws `not_found`, `job_busy`.
 */
export async function deleteBatch(
  { db, now, workflows }: Pick<ApiDependencies, 'db' | 'now' | 'workflows'>,
  request: BatchRequest,
): Promise<DocumentBatch> {
  let runs: readonly string[] = [];
  const work = async (client: pg.PoolClient): Promise<DocumentBatch> => {
    const batch = await getOwnedBatch(client, request, { lock: true });
    const { batchId, tenantId } = batch;
    if (batch.deletedAt !== null) return presentBatch(await getBatchView(client, batchId));
    const at = now();
    await markBatchDeleted(client, batchId, at);
    const canceled = await cancelQueuedOfBatch(client, batchId, at);
    await recordAudit(client, {
      act: 'document_batch.deleted',
      actor: request.principal.keyId,
      tenantId,
      subject: batchId,
      details: { canceled },
    });
    const view = await getBatchView(client, batchId);
    runs = await listOpenRunsOf(client, batchId);
    if (canceled > 0 && runs.length === 0 && hasDocumentEnded(batchState(view.counts)))
      await announceRunFinished(client, { batchId, runId: null, jobUuid: null });
    return presentBatch(view);
  };
  const deleted = await inTransaction(db, work, { lockTimeoutMs: LOCK_TIMEOUT_MS });
  // Their items that were canceled are settled now, or when the run looks by itself.
  await Promise.all(runs.map((runId) => workflows.runChanged(runId)));
  return deleted;
}
