import type { JobRecord } from '../../db/job-view.ts';
import type { SettledItem } from '../../db/result-rows.ts';
import { findItem } from '../../db/results.ts';
import { listRetryChain } from '../../db/retry-chain.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { itemDetailJson, type ShownItem } from '../presentation/result-row.ts';
import { providerAway, resultView } from './list-results.ts';
import { getOwnedJob, type JobRequest, tenantScope } from './owned-job.ts';
import { openContents } from './read-contents.ts';

export interface ItemRequest extends JobRequest {
  readonly customId: string;
}

const NUL = '\u0000';

/**
 * One item as JSON text, with the chain of its retries. Where content was deleted its result is null; its accounts stay.
 * Throws `content_expired` or `content_lost` where its provider keeps the reply no more, and `dependency_unavailable` while
 * that does not answer.
 */
export async function getItem(
  dependencies: Pick<ApiDependencies, 'db' | 'now' | 'providers'>,
  request: ItemRequest,
): Promise<string> {
  const job = await getOwnedJob(dependencies, request);
  const isPossible = !request.customId.includes(NUL) && request.customId.isWellFormed();
  const item = isPossible ? await findItem(dependencies.db.pool, job, request.customId) : null;
  if (item === null) throw new GatewayError('not_found', 'No such item.');
  const chain = await listRetryChain(dependencies.db.pool, tenantScope(request.principal), job, item);
  return itemDetailJson(
    'settledAt' in item ? await readContent(dependencies, job, item) : item,
    chain,
    await resultView(dependencies, request.principal, job),
  );
}

async function readContent(
  dependencies: Pick<ApiDependencies, 'db' | 'now' | 'providers'>,
  job: JobRecord,
  item: SettledItem,
): Promise<ShownItem> {
  const contents = openContents(dependencies, job);
  const [shown] = await contents.fill([item], Number.POSITIVE_INFINITY).finally(() => contents.close());
  if (shown === undefined) throw new Error('a row was asked for and none was given');
  if (shown.content === 'unavailable') throw providerAway();
  const refusal = REFUSALS.find(({ content }) => content === shown.content);
  if (refusal === undefined) return shown;
  const { code, reason } = refusal;
  throw new GatewayError(code, `${reason} Its status, usage and hashes are in the list of results.`);
}

const REFUSALS = [
  {
    content: 'expired',
    code: 'content_expired',
    reason: 'The reply was kept by its provider alone, whose time for it is over.',
  },
  { content: 'lost', code: 'content_lost', reason: 'The reply was kept by its provider alone, which has it no more.' },
  {
    content: 'changed',
    code: 'content_lost',
    reason: 'The reply was kept by its provider alone, and what is there now is not what was settled.',
  },
] as const;
