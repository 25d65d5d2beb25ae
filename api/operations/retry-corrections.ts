import type { RetryJob } from '../../contracts/retry-job.ts';
import { readItem } from '../../db/intake/item-line.ts';
import type { ItemRow } from '../../db/item-rows.ts';
import type { RetrySource } from '../../db/retry-source.ts';
import { type ErrorDetail, GatewayError } from '../../domain/gateway-error.ts';
import type { JsonObject } from '../../domain/json-object.ts';

/**
 * The requests that are sent in place of the original ones, checked and measured as items of the job are. One that names no
 * model runs on `model` where that is given. Throws `invalid_item`, or the code that all faults share.
 */
export function readCorrections(
  requests: NonNullable<RetryJob['requests']>,
  { endpoint, requestDefaults }: Pick<RetrySource, 'endpoint' | 'requestDefaults'>,
  { model, maxRequestBytes }: { readonly model: string | null; readonly maxRequestBytes: number },
): ItemRow[] {
  const rules = {
    endpoint,
    requestDefaults: requestDefaults === null ? null : (JSON.parse(requestDefaults) as JsonObject),
    // The ids are those of items that were taken before.
    allowsEmailLikeIds: true,
    maxRequestBytes,
  };
  const faults: ErrorDetail[] = [];
  const items = Object.entries(requests).flatMap(([customId, request], index) => {
    const read = readItem(JSON.stringify({ custom_id: customId, request }), index + 1, rules);
    if (!read.ok) {
      faults.push(
        ...read.faults.map((fault) => ({ ...fault, customId, field: `requests.${fault.field ?? 'request'}` })),
      );
      return [];
    }
    const followsJob = model !== null && !('model' in request);
    return [followsJob ? { ...read.item, requestedModel: null } : read.item];
  });
  const [first] = faults;
  if (first === undefined) return items;
  const isShared = faults.every(({ error }) => error === first.error);
  throw new GatewayError(
    isShared ? first.error : 'invalid_item',
    `Nothing was retried: ${first.customId}: ${first.message}.`,
    { field: 'requests', details: faults },
  );
}
