import { z } from 'zod';
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
import { CursorInteger, decodeCursor, encodeCursor } from '../cursor.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { type ResultView, resultRowJson } from '../presentation/result-row.ts';
import { isCustomer } from './customer-view.ts';
import { getOwnedJob, type JobRequest } from './owned-job.ts';

/** A cursor of one view means nothing in the other. */
const LISTS = { all: 'results', latest: 'latest_results' } as const;
/** Of reply bodies in one page, and in one piece of a stream. */
const MAX_PAGE_BYTES = 16 * 1024 * 1024;
const STREAM_PIECE = { maxRows: 1_000, maxBytes: 2 * 1024 * 1024 };

export interface ResultsRequest extends JobRequest {
  readonly query: ResultQuery;
}

type Dependencies = Pick<ApiDependencies, 'db'>;

/**
 * A page of settled items as JSON text. The cursor of an open job never ends: asked again it goes on with what has
 * settled since, so a reader that follows it skips nothing. Throws `content_deleted`.
 */
export async function listResultPage(dependencies: Dependencies, request: ResultsRequest): Promise<string> {
  const { job, view, list, afterSeq, read } = await open(dependencies, request);
  const limits = { maxRows: request.query.limit, maxBytes: MAX_PAGE_BYTES };
  const page = await read({ afterSeq, throughSeq: job.lastSeq }, limits);
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
  readonly read: (range: SeqRange, limits: ResultPageLimits) => Promise<ResultPage>;
}

async function* readPieces({ job, view, afterSeq, read }: OpenResults): AsyncGenerator<string> {
  for (let after = afterSeq; ; ) {
    const page = await read({ afterSeq: after, throughSeq: job.lastSeq }, STREAM_PIECE);
    if (page.rows.length > 0) yield page.rows.map((row) => `${resultRowJson(row, view)}\n`).join('');
    const last = page.rows.at(-1);
    if (page.isComplete || last === undefined) return;
    after = last.seq;
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
  const read: OpenResults['read'] = (range, limits) => listing(dependencies.db.pool, job, filter, range, limits);
  return { job, view: await resultView(dependencies, request.principal, job), list, afterSeq, read };
}

export async function resultView({ db }: Dependencies, principal: Principal, job: JobRecord): Promise<ResultView> {
  const tenant = await findTenant(db.pool, job.tenantId);
  const { success: exposesProviderErrors } = ExposingPolicy.safeParse(tenant?.policy);
  return { currency: job.currency, exposesProviderErrors, inCustomerPrices: isCustomer(principal) };
}

const ExposingPolicy = z.looseObject({ expose_provider_errors: z.literal(true) });
