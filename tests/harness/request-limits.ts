import { type LimitSettings, RequestLimits } from '../../api/limits/request-limits.ts';
import type { Database } from '../../db/client.ts';

const HARDLY_ANY: LimitSettings = {
  requestsPerMinute: 1_000_000,
  refusedKeysPerMinute: 1_000_000,
  trustedProxies: 0,
  maxUploads: 1_000,
  maxUploadsPerTenant: 1_000,
  maxTaskStarts: 1_000,
  // A count that a busy machine delays is none of the database's being away.
  storeWaitMs: 20_000,
};

/** Limits that no test meets by accident. */
export function testLimits(
  db: Pick<Database, 'pool'>,
  settings: Partial<LimitSettings> = {},
  onStoreAway: (error: unknown) => void = () => {},
): RequestLimits {
  return new RequestLimits({ ...HARDLY_ANY, ...settings }, () => db.pool, onStoreAway);
}
