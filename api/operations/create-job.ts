import type { CreateJob } from '../../contracts/create-job.ts';
import { readJobSettings } from '../../contracts/job-settings.ts';
import type { IdempotentRequest } from '../../db/idempotency-keys.ts';
import { newId } from '../../db/ids.ts';
import { findJob, insertJob } from '../../db/jobs.ts';
import { requireCapsOfNewJob } from '../../db/tenant-caps.ts';
import { inTransaction } from '../../db/transaction.ts';
import { insertJobWebhook } from '../../db/webhook-secrets.ts';
import { findTimeFault } from '../../domain/execution-times.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Principal } from '../../domain/principal.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentJob } from '../presentation/job.ts';
import { requireJobOwner } from './job-ownership.ts';
import { requireStorageTerms } from './job-storage.ts';
import { type KeptAnswer, once } from './once.ts';
import { tenantScope } from './owned-job.ts';
import { requirePublicUrl } from './public-url.ts';

export interface CreateJobRequest {
  readonly principal: Principal;
  readonly job: CreateJob;
  readonly idempotency: IdempotentRequest | null;
}

/**
 * Makes a draft without items; the answer is the public job. Throws `not_found` for a project or customer the key may not use,
 * `deadline_passed` or `invalid_request` for times that cannot be kept, `storage_policy_looser`,
 * `webhook_secret_missing`, `quota_exceeded`.
 */
export async function createJob(
  { db, now, allowedFetchHosts }: Pick<ApiDependencies, 'db' | 'now' | 'allowedFetchHosts'>,
  { job, principal, idempotency }: CreateJobRequest,
): Promise<KeptAnswer> {
  const scope = tenantScope(principal);
  const settings = readJobSettings(job);
  const fault = findTimeFault(settings.times, now());
  if (fault !== null) throw new GatewayError(fault.code, fault.message, { field: fault.field });
  if (settings.webhook !== null) await requirePublicUrl(settings.webhook.url, 'webhook.url', allowedFetchHosts);
  return inTransaction(db, (client) =>
    once(client, idempotency, async () => {
      const { owner, currency } = await requireJobOwner(client, principal, job);
      const terms = await requireStorageTerms(client, owner.tenantId, settings.storage);
      const jobId = newId('job');
      const made = { jobId, apiKeyId: principal.keyId, currency, createdAt: now() };
      await insertJob(client, { ...owner, ...made, ...settings, terms });
      if (settings.webhook !== null && !(await insertJobWebhook(client, made, settings.webhook)))
        throw noWebhookSecret();
      const created = await findJob(client, scope, jobId);
      if (created === null) throw new Error('an inserted job was not found');
      await requireCapsOfNewJob(client, owner.tenantId, created.uuid);
      return { status: 201, body: JSON.stringify(presentJob(created)) };
    }),
  );
}

function noWebhookSecret(): GatewayError {
  const message =
    'There is no secret yet to sign the webhooks of jobs with. Make it with POST /v1/webhooks/job-secret/rotate.';
  return new GatewayError('webhook_secret_missing', message, { field: 'webhook' });
}
