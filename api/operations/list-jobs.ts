import { z } from 'zod';
import type { BatchJob, ListJobsQuery } from '../../contracts/job.ts';
import { listJobs } from '../../db/jobs.ts';
import type { Principal } from '../../domain/principal.ts';
import { decodeCursor, encodeCursor } from '../cursor.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentJob } from '../presentation/job.ts';
import { asShownTo } from './customer-view.ts';
import { tenantScope } from './owned-job.ts';

const LIST = 'jobs';

export interface JobPage {
  readonly data: BatchJob[];
  readonly next_cursor: string | null;
}

/** Jobs that the key may see, newest first. */
export async function listOwnedJobs(
  { db }: Pick<ApiDependencies, 'db'>,
  { principal, query }: { readonly principal: Principal; readonly query: ListJobsQuery },
): Promise<JobPage> {
  const position = decodeCursor(LIST, [z.int(), z.uuid()] as const, query.cursor);
  const jobs = await listJobs(
    db.pool,
    tenantScope(principal),
    {
      status: query.status,
      customerId: query.customer_id,
      projectId: query.project_id,
      apiKeyId: query.api_key_id,
      model: query.model,
      createdAfter: query.created_after === undefined ? undefined : new Date(query.created_after),
      createdBefore: query.created_before === undefined ? undefined : new Date(query.created_before),
      metadata: metadataFilter(query),
    },
    {
      after: position === null ? null : { createdAt: new Date(position[0]), uuid: position[1] },
      limit: query.limit + 1,
    },
  );
  const page = jobs.slice(0, query.limit);
  const last = jobs.length > query.limit ? page.at(-1) : undefined;
  return {
    data: page.map((job) => presentJob(asShownTo(principal, job))),
    next_cursor: last === undefined ? null : encodeCursor(LIST, [last.createdAt.getTime(), last.uuid]),
  };
}

const METADATA_KEY = /^metadata\[(.*)\]$/s;

function metadataFilter(query: ListJobsQuery): Record<string, string> {
  const pairs = Object.entries(query).flatMap(([name, value]) => {
    const key = METADATA_KEY.exec(name)?.[1];
    return key !== undefined && typeof value === 'string' ? [[key, value] as const] : [];
  });
  return Object.fromEntries(pairs);
}
