import type { CreateJob } from '../../contracts/create-job.ts';
import type { IdempotentRequest } from '../../db/idempotency-keys.ts';
import { newId } from '../../db/ids.ts';
import { findJobOwner, type JobOwner } from '../../db/job-owner.ts';
import { findJob, insertJob, type NewJob } from '../../db/jobs.ts';
import { inTransaction } from '../../db/transaction.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import { parseAmount } from '../../domain/money.ts';
import type { Principal } from '../../domain/principal.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentJob } from '../presentation/job.ts';
import { type KeptAnswer, once } from './once.ts';
import { tenantScope } from './owned-job.ts';

export interface CreateJobRequest {
  readonly principal: Principal;
  readonly job: CreateJob;
  readonly idempotency: IdempotentRequest | null;
}

/** Makes a draft without items; the answer is the public job. Throws `not_found` for a project or customer the key may not use. */
export async function createJob(
  { db, now }: Pick<ApiDependencies, 'db' | 'now'>,
  { job, principal, idempotency }: CreateJobRequest,
): Promise<KeptAnswer> {
  const scope = tenantScope(principal);
  const owner = {
    tenantId: scope.tenantId,
    projectId: ownId('project_id', scope.projectId, job.project_id ?? null),
    customerId: ownId('customer_id', scope.customerId, job.customer_id ?? null),
  };
  return inTransaction(db, (client) =>
    once(client, idempotency, async () => {
      const { currency } = requireUsable(await findJobOwner(client, owner));
      const jobId = newId('job');
      const made = { jobId, apiKeyId: principal.keyId, currency, createdAt: now() };
      await insertJob(client, { ...owner, ...made, ...wanted(job) });
      const created = await findJob(client, scope, jobId);
      if (created === null) throw new Error('an inserted job was not found');
      return { status: 201, body: JSON.stringify(presentJob(created)) };
    }),
  );
}

function wanted(job: CreateJob): Omit<NewJob, 'jobId' | 'apiKeyId' | 'currency' | 'createdAt' | keyof Owner> {
  const { name = null, metadata = {}, request_defaults: defaults, execution = {}, max_cost: maxCost } = job;
  return {
    endpoint: job.endpoint,
    model: job.model,
    name,
    metadata,
    requestDefaults: defaults === undefined ? null : JSON.stringify(defaults),
    execution,
    maxCost: maxCost === undefined ? null : parseAmount(maxCost),
  };
}

type Owner = Pick<NewJob, 'tenantId' | 'projectId' | 'customerId'>;

/** A key bound to a project or customer works for that one alone, named or not. */
function ownId(field: string, bound: string | null, asked: string | null): string | null {
  if (bound === null) return asked;
  if (asked !== null && asked !== bound) throw unknownOwner(field);
  return bound;
}

function requireUsable(owner: JobOwner | null): JobOwner {
  if (owner === null) throw new Error('a key belongs to a tenant that is not there');
  if (!owner.projectIsKnown) throw unknownOwner('project_id');
  if (!owner.customerIsKnown) throw unknownOwner('customer_id');
  if (!owner.customerIsSuspended) return owner;
  throw new GatewayError('tenant_suspended', 'This customer is suspended.', { field: 'customer_id' });
}

function unknownOwner(field: string): GatewayError {
  return new GatewayError('not_found', `There is no such ${field} that your key may use.`, { field });
}
