import type { OperatorItem } from '../../contracts/operator-item.ts';
import { findJob } from '../../db/jobs.ts';
import { findItemPlace } from '../../db/operator-item.ts';
import { findItem } from '../../db/results.ts';
import { encodeProviderItemId } from '../../domain/attempt-token.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentTime } from '../presentation/time.ts';
import { noSuchJob } from './owned-job.ts';

const NUL = '\u0000';

/** An item of any tenant's job, as its provider knows it. Throws `not_found`. */
export async function getOperatorItem(
  { db }: Pick<ApiDependencies, 'db'>,
  { jobId, customId }: { readonly jobId: string; readonly customId: string },
): Promise<OperatorItem> {
  const job = await findJob(db.pool, null, jobId);
  if (job === null) throw noSuchJob();
  const isPossible = !customId.includes(NUL) && customId.isWellFormed();
  const item = isPossible ? await findItem(db.pool, job, customId) : null;
  const place = item === null ? null : await findItemPlace(db.pool, job, customId);
  if (item === null || place === null) throw new GatewayError('not_found', 'No such item.');
  const { attempt_token: token, native_error: nativeError, ...where } = place;
  const isSettled = 'seq' in item;
  return {
    job_id: job.jobId,
    item_id: item.itemId,
    custom_id: item.customId,
    status: item.status,
    ...where,
    provider_item_id: token === null ? null : encodeProviderItemId(token, place.item_no),
    error: isSettled ? item.failure : null,
    native_error: nativeError === null ? null : JSON.parse(nativeError),
    settled_at: presentTime(isSettled ? item.settledAt : null),
  };
}
