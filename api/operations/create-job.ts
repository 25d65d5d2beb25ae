import type { CreateJob } from '../../contracts/create-job.ts';
import { readJobSettings } from '../../contracts/job-settings.ts';
import type { IdempotentRequest } from '../../db/idempotency-keys.ts';
import { newId } from '../../db/ids.ts';
import { findJob, insertJob } from '../../db/jobs.ts';
import { inTransaction } from '../../db/transaction.ts';
import { findTimeFault } from '../../domain/execution-times.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Principal } from '../../domain/principal.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentJob } from '../presentation/job.ts';
import { requireJobOwner } from './job-ownership.ts';
import { type KeptAnswer, once } from './once.ts';
import { tenantScope } from './owned-job.ts';

export interface CreateJobRequest {
  readonly principal: Principal;
  readonly job: CreateJob;
  readonly idempotency: IdempotentRequest | null;
}

/**
 * Makes a draft without items; the answer is the public job. Throws `not_found` for a project or customer the key may not use,
 * `deadline_passed` or `invalid_request` for times that cannot be kept.
 */
export async function createJob(
  { db, now }: Pick<ApiDependencies, 'db' | 'now'>,
  { job, principal, idempotency }: CreateJobRequest,
): Promise<KeptAnswer> {
  const scope = tenantScope(principal);
  const settings = readJobSettings(job);
  const fault = findTimeFault(settings.times, now());
  if (fault !== null) throw new GatewayError(fault.code, fault.message, { field: fault.field });
  return inTransaction(db, (client) =>
    once(client, idempotency, async () => {
      const { owner, currency } = await requireJobOwner(client, principal, job);
      const jobId = newId('job');
      const made = { jobId, apiKeyId: principal.keyId, currency, createdAt: now() };
      await insertJob(client, { ...owner, ...made, ...settings });
      const created = await findJob(client, scope, jobId);
      if (created === null) throw new Error('an inserted job was not found');
      return { status: 201, body: JSON.stringify(presentJob(created)) };
    }),
  );
}
