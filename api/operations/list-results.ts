import type { ResultQuery } from '../../contracts/result-row.ts';
import type { JobRecord } from '../../db/job-view.ts';
import { listLatestResults } from '../../db/latest-results.ts';
import {
  listResults,
  type ResultFilter,
  type ResultPage,
  type ResultPageLimits,
  type SeqRange,
} from '../../db/results.ts';
import { findTenant } from '../../db/tenants.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import { isTerminal } from '../../domain/job-state.ts';
import type { Principal } from '../../domain/principal.ts';
import { readTenantPolicy } from '../../domain/tenant-policy.ts';
import { CursorInteger, decodeCursor, encodeCursor } from '../cursor.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { type ResultView, resultRowJson, type ShownItem } from '../presentation/result-row.ts';
import { isCustomer } from './customer-view.ts';
import { getOwnedJob, type JobRequest } from './owned-job.ts';
import { type ContentReader, openContents } from './read-contents.ts';

/** A cursor of one view means nothing in the other. */
const LISTS = { all: 'results', latest: 'latest_results' } as const;
/** Of reply bodies in one page, and in one piece of a stream. */
const MAX_PAGE_BYTES = 16 * 1024 * 1024;
const STREAM_PIECE = { maxRows: 1_000, maxBytes: 2 * 1024 * 1024 };

export interface ResultsRequest extends JobRequest {
  readonly query: ResultQuery;
}

type Dependencies = Pick<ApiDependencies, 'db' | 'now' | 'providers'>;

/**
 * A page of settled items as JSON text. The cursor of an open job never ends: asked again it goes on with what has
 * settled since, so a reader that follows it skips nothing. Throws `content_deleted`, and `dependency_unavailable` where the
 * first reply is at a provider that does not answer: a page ends before such a row.
 */
export async function listResultPage(dependencies: Dependencies, request: ResultsRequest): Promise<string> {
  const { job, view, list, afterSeq, read, contents } = await open(dependencies, request);
  const limits = { maxRows: request.query.limit, maxBytes: MAX_PAGE_BYTES };
  const page = await read({ afterSeq, throughSeq: job.lastSeq }, limits)
    .then(untilUnavailable)
    .finally(() => contents.close());
  // Past the last row lies nothing of the filter's up to where the job stood when the page was begun.
  const endSeq = page.isComplete ? Math.max(afterSeq, job.lastSeq) : (page.rows.at(-1)?.seq ?? afterSeq);
  const isOver = page.isComplete && isTerminal(job.state);
  const nextCursor = isOver ? null : encodeCursor(list, [endSeq]);
  const rows = page.rows.map((row) => resultRowJson(row, view));
  return `{"data":[${rows.join(',')}],"next_cursor":${JSON.stringify(nextCursor)}}`;
}

/**
 * All items settled so far as NDJSON, in pieces that are read when the reader asks for them: memory and transactions do
 * not grow with the job or with how slow the reader is. The job is looked at when the first piece is asked for.
 */
export async function openResultStream(
  dependencies: Dependencies,
  request: ResultsRequest,
): Promise<AsyncGenerator<string>> {
  return readPieces(await open(dependencies, request));
}

interface OpenResults {
  readonly job: JobRecord;
  readonly view: ResultView;
  readonly list: string;
  readonly afterSeq: number;
  readonly read: (range: SeqRange, limits: ResultPageLimits) => Promise<ShownPage>;
  readonly contents: ContentReader;
}

type ShownPage = Pick<ResultPage, 'isComplete'> & { readonly rows: readonly ShownItem[] };

/** Asked for again, the rows that are left out come with their replies, or say for good that these are gone. */
function untilUnavailable(page: ShownPage): ShownPage {
  const end = page.rows.findIndex(({ content }) => content === 'unavailable');
  if (end === -1) return page;
  if (end === 0) throw providerAway();
  return { rows: page.rows.slice(0, end), isComplete: false };
}

export function providerAway(): GatewayError {
  return new GatewayError(
    'dependency_unavailable',
    'The provider that keeps this reply does not answer. Try again later; a stream of all results goes on past it.',
    { retryAfterSeconds: 30 },
  );
}

async function* readPieces({ job, view, afterSeq, read, contents }: OpenResults): AsyncGenerator<string> {
  try {
    for (let after = afterSeq; ; ) {
      const page = await read({ afterSeq: after, throughSeq: job.lastSeq }, STREAM_PIECE);
      if (page.rows.length > 0) yield page.rows.map((row) => `${resultRowJson(row, view)}\n`).join('');
      const last = page.rows.at(-1);
      if (page.isComplete || last === undefined) return;
      after = last.seq;
    }
  } finally {
    await contents.close();
  }
}

async function open(dependencies: Dependencies, { query, ...request }: ResultsRequest): Promise<OpenResults> {
  const list = LISTS[query.view ?? 'all'];
  const [afterSeq = 0] = decodeCursor(list, [CursorInteger] as const, query.cursor) ?? [];
  const job = await getOwnedJob(dependencies, request);
  if (job.contentDeletedAt !== null) {
    throw new GatewayError(
      'content_deleted',
      `The content of this job was deleted at ${job.contentDeletedAt.toISOString()}.`,
    );
  }
  const filter: ResultFilter = { status: query.status, customId: query.custom_id };
  const listing = query.view === 'latest' ? listLatestResults : listResults;
  const view = await resultView(dependencies, request.principal, job);
  const contents = openContents(dependencies, job);
  const read: OpenResults['read'] = async (range, limits) => {
    const { rows, isComplete } = await listing(dependencies.db.pool, job, filter, range, limits);
    const shown = await contents.fill(rows, limits.maxBytes);
    return { rows: shown, isComplete: isComplete && shown.length === rows.length };
  };
  return { job, view, list, afterSeq, read, contents };
}

export async function resultView(
  { db }: Pick<Dependencies, 'db'>,
  principal: Principal,
  job: JobRecord,
): Promise<ResultView> {
  const tenant = await findTenant(db.pool, job.tenantId);
  const { exposesProviderErrors } = readTenantPolicy(tenant?.policy ?? {});
  return { currency: job.currency, exposesProviderErrors, inCustomerPrices: isCustomer(principal) };
}
