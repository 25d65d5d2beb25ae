import type { InvoiceReport } from '../../contracts/adjustment.ts';
import { recordAudit } from '../../db/audit-log.ts';
import { type BilledBatch, findBilledBatches } from '../../db/billed-batches.ts';
import { lockJobRow } from '../../db/job-rows.ts';
import { inTransaction } from '../../db/transaction.ts';
import { judgeBilled } from '../../domain/invoice.ts';
import { formatAmount } from '../../domain/money.ts';
import type { Principal } from '../../domain/principal.ts';
import { postAdjustment } from '../../ledger/adjust.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentTime } from '../presentation/time.ts';
import { type InvoiceLine, readInvoice } from './read-invoice.ts';

export interface InvoiceRequest {
  readonly csv: string;
  readonly invoice: string;
  readonly chargesTenant: boolean;
}

type Dependencies = Pick<ApiDependencies, 'db'>;

/** What an import of the invoice would post. Changes nothing. */
export async function previewInvoice(dependencies: Dependencies, request: InvoiceRequest): Promise<InvoiceReport> {
  return report(dependencies, request, readInvoice(request.csv), 0);
}

/**
 * Posts what the invoice bills beyond or below what was charged, batch by batch, each in a transaction of its own: an
 * import that broke off goes on when it is repeated, and one that is repeated whole changes nothing.
 */
export async function importInvoice(
  dependencies: Dependencies,
  request: InvoiceRequest & { readonly principal: Principal },
): Promise<InvoiceReport> {
  const { invoice, chargesTenant, principal } = request;
  const lines = readInvoice(request.csv);
  const before = await report(dependencies, request, lines, 0);
  const toPost = new Map(
    before.batches.flatMap((batch) => (batch.status === 'differs' ? [[keyOf(batch), batch.job_id]] : [])),
  );
  let posted = 0;
  for (const line of lines) {
    const jobId = toPost.get(keyOf({ provider: line.provider, provider_batch_id: line.providerBatchId }));
    if (jobId === undefined) continue;
    const account = chargesTenant ? 'tenant' : 'gateway';
    const adjustment = { ...line, invoice, account, actor: principal.keyId } as const;
    const isNew = await inTransaction(dependencies.db, async (client) => {
      const job = await lockJobRow(client, jobId);
      if (!(await postAdjustment(client, job, adjustment))) return false;
      const entry = {
        act: 'invoice.imported',
        actor: principal.keyId,
        tenantId: job.tenantId,
        subject: jobId,
      } as const;
      await recordAudit(client, { ...entry, details: { invoice, account } });
      return true;
    });
    if (isNew) posted += 1;
  }
  return report(dependencies, request, lines, posted);
}

/** Batches of one statement. */
const PIECE = 1_000;

async function report(
  { db }: Dependencies,
  { invoice, chargesTenant }: InvoiceRequest,
  lines: readonly InvoiceLine[],
  newlyPosted: number,
): Promise<InvoiceReport> {
  const batches: InvoiceReport['batches'] = [];
  const unknown: InvoiceReport['unknown'] = [];
  for (let first = 0; first < lines.length; first += PIECE) {
    const piece = lines.slice(first, first + PIECE);
    const found = await findBilledBatches(db.pool, piece, invoice);
    const known = new Map(found.map((batch) => [keyOf(presentKey(batch)), batch]));
    for (const line of piece) {
      const batch = known.get(keyOf(presentKey(line)));
      if (batch === undefined) unknown.push(presentUnknown(line));
      else batches.push(presentBatch(line, batch, chargesTenant));
    }
  }
  return { invoice, account: chargesTenant ? 'tenant' : 'gateway', newly_posted: newlyPosted, batches, unknown };
}

function presentKey({ provider, providerBatchId }: { readonly provider: string; readonly providerBatchId: string }) {
  return { provider, provider_batch_id: providerBatchId };
}

function keyOf(batch: { readonly provider: string; readonly provider_batch_id: string }): string {
  return JSON.stringify([batch.provider, batch.provider_batch_id]);
}

function presentUnknown(line: InvoiceLine): InvoiceReport['unknown'][number] {
  return { ...presentKey(line), billed: formatAmount(line.billed), currency: line.currency };
}

/** What was posted under the invoice is shown as it was then, whatever the file says now. */
function presentBatch(line: InvoiceLine, batch: BilledBatch, chargesTenant: boolean): InvoiceReport['batches'][number] {
  const { posted } = batch;
  const { verdict, difference } = judgeBilled(line, batch, { chargesTenant });
  return {
    ...presentKey(batch),
    job_id: batch.jobId,
    tenant_id: batch.tenantId,
    shard: batch.shard,
    attempt: batch.attempt,
    status: posted === null ? verdict : 'posted',
    billed: formatAmount(posted?.billed ?? line.billed),
    charged: formatAmount(posted?.charged ?? batch.charged),
    difference: formatAmount(posted?.amount ?? difference),
    currency: line.currency,
    posted_at: presentTime(posted?.at ?? null),
  };
}
