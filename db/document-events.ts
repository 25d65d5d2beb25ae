import type pg from 'pg';
import { batchState, hasDocumentEnded } from '../domain/document.ts';
import { getBatchView } from './document-batches.ts';
import { insertEvent } from './events.ts';

/**
 * Tells of the end of a run of a batch, or with a null run of the end that its deletion was: as the batch stands now, in the
 * transaction of that end. `jobUuid` is that of the run.
 */
export async function announceRunFinished(
  client: pg.PoolClient,
  {
    batchId,
    runId,
    jobUuid,
  }: { readonly batchId: string; readonly runId: string | null; readonly jobUuid: string | null },
): Promise<void> {
  const { tenantId, projectId, customerId, name, counts } = await getBatchView(client, batchId);
  const status = batchState(counts);
  await insertEvent(client, {
    tenantId,
    projectId,
    jobId: jobUuid,
    subjectId: batchId,
    type: 'document_batch.run_finished',
    data: {
      ...{ run_id: runId, batch_name: name, customer_id: customerId },
      ...{ status, all_done: hasDocumentEnded(status), counts: { ...counts } },
    },
  });
}
