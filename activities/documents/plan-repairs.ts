import { listUnplannedRepairs, numberRepairs } from '../../db/document-repairs.ts';
import { type DocumentRunRow, findRun, noteRepairJob } from '../../db/document-runs.ts';
import { newId } from '../../db/ids.ts';
import type { JobRow } from '../../db/job-rows.ts';
import { endProcessing, listByItems, type RunDocument } from '../../db/run-documents.ts';
import { inTransaction } from '../../db/transaction.ts';
import { PROBLEM_TOKENS } from '../../domain/document-attempt.ts';
import type { DocumentErrorCode } from '../../domain/document-error.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import { admitDocuments } from '../../ledger/admit-documents.ts';
import type { ActivityDependencies } from '../dependencies.ts';

const NOT_MENDED: DocumentErrorCode = 'rows_do_not_fit';
/** A sealed reply is at least as long as its text, which has no more tokens than bytes. */
const BYTES_OF_TOKEN = 2;

/**
 * Makes the job of the repairs of a run in batch mode, once its batch job is over: each document that was answered with what
 * does not fit is asked about once more, at the standard price and with money of its own. Where that is not to be had, the
 * documents fail as they would have without.
 */
export async function planRepairs(dependencies: ActivityDependencies, run: DocumentRunRow, job: JobRow): Promise<void> {
  const { db, catalogue, now, log } = dependencies;
  const unplanned = await listUnplannedRepairs(db.pool, run.uuid);
  if (unplanned.size === 0) return;
  const itemNos = [...unplanned.values()].map(({ itemNo }) => itemNo);
  const documents = await listByItems(db.pool, run.uuid, itemNos);
  const files = documents.map((document) => ({
    ...document,
    repairTokens: Math.ceil((unplanned.get(document.documentId)?.sealedBytes ?? 0) / BYTES_OF_TOKEN) + PROBLEM_TOKENS,
  }));
  const repairJobId = newId('documentRun');
  const { projectId, customerId, tenantId } = run;
  const owner = { tenantId, projectId, customerId };
  try {
    await inTransaction(db, async (client) => {
      const current = await findRun(client, run.runId, 'FOR NO KEY UPDATE');
      if (current === null || current.repairJobId !== null) return;
      await admitDocuments(client, catalogue, {
        ...{ runId: repairJobId, owner, apiKeyId: job.apiKeyId, mode: 'direct', model: run.model },
        ...{ columns: run.columns, files, createdAt: now() },
      });
      await noteRepairJob(client, run, repairJobId);
      await numberRepairs(
        client,
        documents.map(({ documentId }) => documentId),
      );
    });
    log.info({ runId: run.runId, repairJobId, documents: documents.length }, 'repairs planned');
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code === 'dependency_unavailable') throw error;
    log.warn({ runId: run.runId, code: error.code, documents: documents.length }, 'no repair could be planned');
    await failAll(dependencies, documents);
  }
}

async function failAll({ db, now }: ActivityDependencies, documents: readonly RunDocument[]): Promise<void> {
  const ends = documents.map(({ uuid }) => ({ uuid, state: 'failed' as const, code: NOT_MENDED }));
  await inTransaction(db, (client) => endProcessing(client, ends, now()));
}
