import type { CapabilityOverrideList } from '../../contracts/capability-override.ts';
import type { OverrideQuery } from '../../contracts/override.ts';
import { listCapabilityOverrides } from '../../db/capability-overrides.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentCapability } from '../presentation/override.ts';
import { pageOverrides } from './page-overrides.ts';

/** What admins said of models in batch mode, newest first. */
export async function listOverriddenCapabilities(
  { db }: Pick<ApiDependencies, 'db'>,
  query: OverrideQuery,
): Promise<CapabilityOverrideList> {
  return pageOverrides(
    'capabilities',
    query,
    (filter, page) => listCapabilityOverrides(db.pool, filter, page),
    presentCapability,
  );
}
