import { type JobScope, jobScopeOf } from '../../db/job-scope.ts';
import type { JobRecord } from '../../db/job-view.ts';
import { findJob } from '../../db/jobs.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Principal } from '../../domain/principal.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { asShownTo } from './customer-view.ts';

/** Who asks for which job. */
export interface JobRequest {
  readonly principal: Principal;
  readonly jobId: string;
}

/** One text for unknown, malformed and foreign ids, so that nothing tells them apart. */
export function noSuchJob(): GatewayError {
  return new GatewayError('not_found', 'No such job.');
}

/** Throws `forbidden` for a key that belongs to no tenant. */
export function tenantScope(principal: Principal): JobScope {
  const scope = jobScopeOf(principal);
  if (scope === null) throw new GatewayError('forbidden', 'This call is for keys of a tenant.');
  return scope;
}

/** A job that the key may see, with its money as that may see it, else `not_found`. */
export async function getOwnedJob({ db }: Pick<ApiDependencies, 'db'>, request: JobRequest): Promise<JobRecord> {
  const job = await findJob(db.pool, tenantScope(request.principal), request.jobId);
  if (job === null) throw noSuchJob();
  return asShownTo(request.principal, job);
}
