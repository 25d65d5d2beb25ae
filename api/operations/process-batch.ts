import type pg from 'pg';
import { readDocumentColumns } from '../../contracts/document-columns.ts';
import type { ProcessBatch } from '../../contracts/process-batch.ts';
import { recordAudit } from '../../db/audit-log.ts';
import type { DocumentBatchRow } from '../../db/document-batches.ts';
import { insertRun, readRunDefaults } from '../../db/document-runs.ts';
import type { IdempotentRequest } from '../../db/idempotency-keys.ts';
import { newId } from '../../db/ids.ts';
import { assignToRun, lockDocumentsToRun } from '../../db/run-documents.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { DocumentColumn, RunMode } from '../../domain/document.ts';
import { DEFAULT_DOCUMENT_MODEL } from '../../domain/document-items.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Principal } from '../../domain/principal.ts';
import { requireSealing } from '../../encryption/create-cipher.ts';
import { admitDocuments } from '../../ledger/admit-documents.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { type KeptAnswer, once } from './once.ts';
import { type BatchRequest, getOwnedBatch } from './owned-batch.ts';

/** More make a transaction that holds others up; what is left is for the next run. */
const MAX_RUN_DOCUMENTS = 10_000;
const LOCK_TIMEOUT_MS = 5_000;

export interface ProcessRequest extends BatchRequest {
  readonly asked: ProcessBatch;
  readonly idempotency: IdempotentRequest | null;
}

/** As answered, and what its workflow is started with. */
interface StartedRun {
  readonly run_id: string;
  readonly batch_name: string;
  readonly mode: RunMode;
  readonly model: string;
  readonly documents: number;
  readonly columns: readonly DocumentColumn[];
}

/**
 * Starts a run over the documents of a batch that are queued, and with `include: "failed"` over those that failed too. In one
 * transaction, with the batch locked, they are taken, judged, and their money is held, so that each is in one run; a refusal
 * leaves everything as it was. Then its workflow is started; where Temporal is away the sweep does that later. Throws `not_found`,
 * `conflict` for a batch that was deleted or has nothing to process, `job_busy`, `invalid_request` where no columns are known,
 * and what stands in the way of the model or the money.
 */
export async function processBatch(dependencies: ProcessDependencies, request: ProcessRequest): Promise<KeptAnswer> {
  const { db, workflows } = dependencies;
  let customerId: string | null = null;
  const answer = await inTransaction(
    db,
    (client) =>
      once(client, request.idempotency, async () => {
        const batch = await getOwnedBatch(client, request, { lock: true });
        customerId = batch.customerId;
        const started = await startRun(dependencies, client, batch, request);
        return { status: 202, body: JSON.stringify(started) };
      }),
    { lockTimeoutMs: LOCK_TIMEOUT_MS },
  );
  if (!answer.replayed) void workflows.startRun(startable(JSON.parse(answer.body), request.principal, customerId));
  return answer;
}

type ProcessDependencies = Pick<ApiDependencies, 'db' | 'now' | 'catalogue' | 'cipher' | 'workflows'>;

function startable(
  { run_id: runId, mode, model, documents }: StartedRun,
  { tenantId }: Principal,
  customerId: string | null,
) {
  if (tenantId === null) throw new Error('a key of the gateway has no documents');
  return { runId, tenantId, customerId, mode, model, documents };
}

async function startRun(
  { now, catalogue, cipher }: ProcessDependencies,
  client: pg.PoolClient,
  batch: DocumentBatchRow,
  { principal, asked }: ProcessRequest,
): Promise<StartedRun> {
  const { batchId, tenantId, projectId, customerId, name } = batch;
  if (batch.deletedAt !== null) throw deleted();
  const { columns, model } = await settingsOf(client, batchId, asked);
  const { mode = 'direct', include = 'queued' } = asked;
  // A reply that does not fit is kept sealed until it is mended, under every storage policy.
  requireSealing(cipher);
  const withFailed = include === 'failed';
  const documents = await lockDocumentsToRun(client, batchId, { withFailed, limit: MAX_RUN_DOCUMENTS });
  if (documents.length === 0) throw nothingToProcess(withFailed);
  const createdAt = now();
  const runId = newId('documentRun');
  const owner = { tenantId, projectId, customerId };
  const run = { runId, batchId, owner, mode, columns, model, documents: documents.length, createdAt };
  await assignToRun(client, runId, documents);
  await insertRun(client, run);
  await recordAudit(client, {
    act: 'document_batch.processed',
    actor: principal.keyId,
    tenantId,
    subject: batchId,
    details: { run_id: runId, mode, documents: documents.length },
  });
  // Last, since budgets and caps are locked last.
  await admitDocuments(client, catalogue, { ...run, apiKeyId: principal.keyId, files: documents });
  return { run_id: runId, batch_name: name, mode, model, documents: documents.length, columns };
}

async function settingsOf(
  client: pg.PoolClient,
  batchId: string,
  asked: ProcessBatch,
): Promise<{ readonly columns: readonly DocumentColumn[]; readonly model: string }> {
  const last = await readRunDefaults(client, batchId);
  const columns = asked.columns === undefined ? last.columns : readDocumentColumns(asked.columns);
  if (columns === null) throw noColumns();
  return { columns, model: asked.model ?? last.model ?? DEFAULT_DOCUMENT_MODEL };
}

function noColumns(): GatewayError {
  const message =
    'columns: none were named, and the batch has none of an earlier run. Name the columns of the table, such as [{"name":"total","type":"currency"}].';
  return new GatewayError('invalid_request', message, { field: 'columns' });
}

function nothingToProcess(withFailed: boolean): GatewayError {
  const message = withFailed
    ? 'No document of the batch is queued, and none failed that still has its file. Upload one first.'
    : 'No document of the batch is queued. Upload one first, or send {"include":"failed"} to process again what failed.';
  return new GatewayError('nothing_to_process', message);
}

function deleted(): GatewayError {
  const message = 'The batch was deleted. Upload a document under its name to start a new one.';
  return new GatewayError('conflict', message);
}
