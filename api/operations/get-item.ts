import { findItem } from '../../db/results.ts';
import { listRetryChain } from '../../db/retry-chain.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { itemDetailJson } from '../presentation/result-row.ts';
import { resultView } from './list-results.ts';
import { getOwnedJob, type JobRequest, tenantScope } from './owned-job.ts';

export interface ItemRequest extends JobRequest {
  readonly customId: string;
}

const NUL = '\u0000';

/** One item as JSON text, with the chain of its retries. Where content was deleted its result is null; its accounts stay. */
export async function getItem(dependencies: Pick<ApiDependencies, 'db'>, request: ItemRequest): Promise<string> {
  const job = await getOwnedJob(dependencies, request);
  const isPossible = !request.customId.includes(NUL) && request.customId.isWellFormed();
  const item = isPossible ? await findItem(dependencies.db.pool, job, request.customId) : null;
  if (item === null) throw new GatewayError('not_found', 'No such item.');
  const chain = await listRetryChain(dependencies.db.pool, tenantScope(request.principal), job, item);
  return itemDetailJson(item, chain, await resultView(dependencies, request.principal, job));
}
