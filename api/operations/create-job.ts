import type { CreateJob } from '../../contracts/create-job.ts';
import type { IdempotentRequest } from '../../db/idempotency-keys.ts';
import { newId } from '../../db/ids.ts';
import { findJobOwner } from '../../db/job-owner.ts';
import { findJob, insertJob } from '../../db/jobs.ts';
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
  request: CreateJobRequest,
): Promise<KeptAnswer> {
  const { job, principal, idempotency } = request;
  const scope = tenantScope(principal);
  const tenantId = scope.tenantId;
  const projectId = ownId('project_id', scope.projectId, job.project_id ?? null);
  const customerId = ownId('customer_id', scope.customerId, job.customer_id ?? null);
  return inTransaction(db, (client) =>
    once(client, idempotency, async () => {
      const owner = await findJobOwner(client, { tenantId, projectId, customerId });
      if (owner === null) throw new Error(`no tenant ${tenantId}`);
      if (!owner.projectIsKnown) throw unknownOwner('project_id');
      if (!owner.customerIsKnown) throw unknownOwner('customer_id');
      if (owner.customerIsSuspended)
        throw new GatewayError('tenant_suspended', 'This customer is suspended.', { field: 'customer_id' });
      const jobId = newId('job');
      await insertJob(client, {
        jobId,
        tenantId,
        projectId,
        customerId,
        apiKeyId: principal.keyId,
        endpoint: job.endpoint,
        model: job.model,
        name: job.name ?? null,
        metadata: job.metadata ?? {},
        requestDefaults: job.request_defaults === undefined ? null : JSON.stringify(job.request_defaults),
        execution: job.execution ?? {},
        maxCost: job.max_cost === undefined ? null : parseAmount(job.max_cost),
        currency: owner.currency,
        createdAt: now(),
      });
      const created = await findJob(client, scope, jobId);
      if (created === null) throw new Error('an inserted job was not found');
      return { status: 201, body: JSON.stringify(presentJob(created)) };
    }),
  );
}

/** A key bound to a project or customer works for that one alone, named or not. */
function ownId(field: string, bound: string | null, asked: string | null): string | null {
  if (bound === null) return asked;
  if (asked !== null && asked !== bound) throw unknownOwner(field);
  return bound;
}

function unknownOwner(field: string): GatewayError {
  return new GatewayError('not_found', `There is no such ${field} that your key may use.`, { field });
}
