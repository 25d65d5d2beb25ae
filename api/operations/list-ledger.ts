import { z } from 'zod';
import type { LedgerPage, LedgerQuery } from '../../contracts/ledger-entry.ts';
import type { JobRecord } from '../../db/job-view.ts';
import { type LedgerEntryRecord, type LedgerView, listLedgerEntries } from '../../db/ledger-entries.ts';
import { formatAmount } from '../../domain/money.ts';
import type { Principal } from '../../domain/principal.ts';
import { CursorInteger, decodeCursor, encodeCursor } from '../cursor.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { isCustomer } from './customer-view.ts';
import { getOwnedJob, type JobRequest } from './owned-job.ts';

const LIST = 'ledger';
const Position = [CursorInteger, z.string().max(64), CursorInteger] as const;

/** A page of everything that happened to the job's money. */
export async function listLedger(
  dependencies: Pick<ApiDependencies, 'db'>,
  { query, ...request }: JobRequest & { readonly query: LedgerQuery },
): Promise<LedgerPage> {
  const position = decodeCursor(LIST, Position, query.cursor);
  const job = await getOwnedJob(dependencies, request);
  const after = position === null ? null : { itemNo: position[0], event: position[1], ordinal: position[2] };
  const page = { after, limit: query.limit + 1 };
  // What the gateway bears is no business of a partner's customer.
  const filter = { level: query.level ?? null, view: viewOf(request.principal, job) };
  const entries = await listLedgerEntries(dependencies.db.pool, job, filter, page);
  const shown = entries.slice(0, query.limit);
  const last = entries.length > query.limit ? shown.at(-1) : undefined;
  return {
    data: shown.map((entry) => presentEntry(entry, job.currency)),
    next_cursor: last === undefined ? null : encodeCursor(LIST, [last.itemNo, last.event, last.ordinal]),
  };
}

function viewOf(principal: Principal, job: JobRecord): LedgerView {
  if (!isCustomer(principal)) return 'tenant';
  return job.customerMoney === null ? 'customer' : 'priced';
}

function presentEntry(entry: LedgerEntryRecord, currency: string): LedgerPage['data'][number] {
  return {
    event: entry.event,
    item_id: entry.itemId,
    custom_id: entry.customId,
    ordinal: entry.ordinal,
    amount: formatAmount(entry.amount),
    currency,
    actor: entry.actor,
    cause: entry.cause,
    account: entry.account,
    created_at: entry.createdAt.toISOString(),
  };
}
