import type { AttemptRow } from '../db/attempts.ts';
import type { JobRow } from '../db/job-rows.ts';
import type { ShardRow } from '../db/shards.ts';
import { findTenant } from '../db/tenants.ts';
import { credentialWaitEnds } from '../domain/credential-wait.ts';
import { readTenantPolicy } from '../domain/tenant-policy.ts';
import type { ActivityDependencies } from './dependencies.ts';

type Dependencies = Pick<ActivityDependencies, 'db' | 'settings'>;

/** How long a tenant's jobs wait for a good key or credit, as it is set now. */
export async function credentialWaitMs(
  { db, settings }: Dependencies,
  { tenantId }: Pick<JobRow, 'tenantId'>,
): Promise<number> {
  const tenant = await findTenant(db.pool, tenantId);
  return readTenantPolicy(tenant?.policy ?? {}).credentialWaitMs ?? settings.waitLimitMs;
}

/** Whether a credential that is refused once more has been waited for long enough, for an attempt that was sent. */
export async function isCredentialWaitOver(
  dependencies: Dependencies,
  { job, shard, attempt }: { readonly job: JobRow; readonly shard: ShardRow; readonly attempt: AttemptRow },
  at: Date,
): Promise<boolean> {
  const { waitingReason, waitingSince } = shard;
  if (waitingReason !== 'credential_refused' || waitingSince === null) return false;
  const { endedAt, expiresAt, acceptedAt, createStartedAt, createdAt } = attempt;
  const batch = { endedAt, expiresAt, sentAt: acceptedAt ?? createStartedAt ?? createdAt };
  return at >= credentialWaitEnds({ since: waitingSince, batch }, await credentialWaitMs(dependencies, job));
}
