import { hash } from 'node:crypto';
import { loadCatalogue } from '../../db/catalogue-overrides.ts';
import { type BuiltItem, copyRequests, readOutputCaps } from '../../db/document-items.ts';
import { type DocumentRunRow, findRun, getRun, noteWritten } from '../../db/document-runs.ts';
import { getJobRow, type JobRow } from '../../db/job-rows.ts';
import { failQueued, listAfterItem, type RunDocument } from '../../db/run-documents.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { CapabilityRow } from '../../domain/capability-row.ts';
import type { DocumentErrorCode } from '../../domain/document-error.ts';
import type { ActivityDependencies } from '../dependencies.ts';
import { cancellationSignal, whileBeating } from '../heartbeats.ts';
import type { DocumentActivities } from '../interfaces.ts';
import { buildRequest, weightOf } from './build-request.ts';

/** Written together: requests of large documents go alone. */
const STEP_DOCUMENTS = 100;
const STEP_BYTES = 8_000_000;

interface Step {
  readonly built: readonly BuiltItem[];
  readonly failed: readonly { readonly document: RunDocument; readonly code: DocumentErrorCode }[];
  /** The last item that was looked at. */
  readonly through: number;
}

/**
 * Writes the next requests of a run in batch mode, made of its files: so many that memory stays small, and to be called again
 * until none is left. A document of which none can be made fails by itself. Broken off, it begins the step anew.
 */
export function createWriteRequests(dependencies: ActivityDependencies): DocumentActivities['writeRequests'] {
  const { db, now, log } = dependencies;
  return async ({ runId }) => {
    const run = await getRun(db.pool, runId);
    const job = await getJobRow(db.pool, runId);
    if (run.mode === 'direct' || run.state === 'finished') return { left: 0 };
    const step = await whileBeating(() => buildStep(dependencies, run, job));
    await inTransaction(db, async (client) => {
      const current = await findRun(client, runId, 'FOR NO KEY UPDATE');
      if (current?.writtenThrough !== run.writtenThrough) return;
      const at = now();
      if (step.built.length > 0) await copyRequests(client, job.key, step.built);
      for (const { document, code } of step.failed) await failQueued(client, document, code, at);
      await noteWritten(client, run, step.through);
    });
    const left = Math.max(0, run.documents - step.through);
    log.info({ runId, written: step.built.length, failed: step.failed.length, left }, 'requests written');
    return { left };
  };
}

async function buildStep(dependencies: ActivityDependencies, run: DocumentRunRow, job: JobRow): Promise<Step> {
  const { db } = dependencies;
  const documents = await listAfterItem(db.pool, run.uuid, run.writtenThrough, STEP_DOCUMENTS);
  const capability = await capabilityOf(dependencies, job);
  const caps = await readOutputCaps(
    db.pool,
    job.key,
    documents.map(({ itemNo }) => itemNo),
  );
  const built: BuiltItem[] = [];
  const failed: { document: RunDocument; code: DocumentErrorCode }[] = [];
  let through = documents.length < STEP_DOCUMENTS ? run.documents : run.writtenThrough;
  let bytes = 0;
  for (const document of documents) {
    const { itemNo } = document;
    if (bytes > STEP_BYTES) return { built, failed, through: itemNo - 1 };
    through = Math.max(through, itemNo);
    if (document.state !== 'queued') continue;
    const maxOutputTokens = caps.get(itemNo);
    if (maxOutputTokens === undefined) throw new Error(`${document.documentId} has no item in its run`);
    const toBuild = { document, columns: run.columns, capability, maxOutputTokens, signal: cancellationSignal() };
    const made = await dependencies.documentBytes.run(weightOf(document), async () => {
      const result = await buildRequest(dependencies, toBuild);
      return result.kind === 'request' ? JSON.stringify(result.request) : result;
    });
    if (typeof made === 'string') built.push({ itemNo, body: made, hash: hash('sha256', made) });
    else failed.push({ document, code: made.code });
    bytes += typeof made === 'string' ? made.length : 0;
  }
  return { built, failed, through };
}

async function capabilityOf(
  { db, catalogue: base }: Pick<ActivityDependencies, 'db' | 'catalogue'>,
  { tenantId, jobId, endpoint, resolvedProvider, resolvedProviderModel }: JobRow,
): Promise<CapabilityRow> {
  const catalogue = await loadCatalogue(db.pool, base, tenantId);
  const capability = catalogue.findCapability(resolvedProvider ?? '', endpoint, resolvedProviderModel ?? '');
  if (capability === null) throw new Error(`nothing is known any more of the model of ${jobId}`);
  return capability;
}
