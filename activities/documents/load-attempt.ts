import { loadCatalogue } from '../../db/catalogue-overrides.ts';
import { DIRECT_SHARD } from '../../db/document-intake.ts';
import { type DocumentRepair, findRepair } from '../../db/document-repairs.ts';
import type { DocumentRunRow } from '../../db/document-runs.ts';
import { getJobRow } from '../../db/job-rows.ts';
import { readEstimates } from '../../db/open-items.ts';
import type { TakenDocument } from '../../db/run-documents.ts';
import { getShard } from '../../db/shards.ts';
import { loadTargetPrices } from '../../db/target-prices.ts';
import type { CapabilityRow } from '../../domain/capability-row.ts';
import type { ActivityDependencies } from '../dependencies.ts';
import type { DirectItem } from '../tasks/task-line.ts';

/** One attempt of a document: its item is that of the job whose money it is. */
export interface DocumentAttempt extends DirectItem {
  readonly run: DocumentRunRow;
  readonly document: TakenDocument;
  /** The answer that is to be mended; null for a first request. */
  readonly repair: DocumentRepair | null;
  readonly capability: CapabilityRow;
  /** What was held for it. */
  readonly maxOutputTokens: number;
}

/** In batch mode only repairs are attempts, and have a job of their own. */
export async function loadAttempt(
  { db, catalogue: base }: Pick<ActivityDependencies, 'db' | 'catalogue'>,
  run: DocumentRunRow,
  document: TakenDocument,
): Promise<DocumentAttempt> {
  const repair = await findRepair(db.pool, document);
  const jobId = run.mode === 'direct' ? run.runId : run.repairJobId;
  const itemNo = run.mode === 'direct' ? document.itemNo : (repair?.itemNo ?? null);
  if (jobId === null || itemNo === null) throw new Error(`${document.documentId} has no item to be sent by itself`);
  const job = await getJobRow(db.pool, jobId);
  const shard = await getShard(db.pool, job.key, DIRECT_SHARD);
  const target = (await loadTargetPrices(db.pool, { ...job, uuid: job.key.uuid }))(shard);
  const catalogue = await loadCatalogue(db.pool, base, job.tenantId);
  const capability = catalogue.findCapability(shard.provider, job.endpoint, shard.providerModel);
  if (capability === null) throw new Error(`nothing is known any more of the model of ${jobId}`);
  const estimates = await readEstimates(db.pool, job.key, [itemNo], target.heldReplies);
  const maxOutputTokens = estimates.get(itemNo)?.outputTokens ?? target.price.maxOutputTokens;
  return { run, document, repair, job, shard, target, itemNo, capability, maxOutputTokens };
}
