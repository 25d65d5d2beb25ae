import type { JobStorage } from '../../contracts/job-storage.ts';
import { artifactPrefix } from '../../db/artifacts.ts';
import type { JobRecord } from '../../db/job-view.ts';
import type { ProviderHolding } from '../../db/storage-view.ts';
import { readableUntil } from '../../domain/content-state.ts';
import { contentDueAt, keepsContent, providerFilesDueAt } from '../../domain/storage-terms.ts';
import { presentTime } from './time.ts';

type Kept = JobStorage['kept'][number];

export interface StoredFacts {
  readonly holdings: readonly ProviderHolding[];
  readonly hashes: JobStorage['hashes'];
}

/** What is kept of a job where, and until when; never by a provider's ids. */
export function presentStorage(job: JobRecord, { holdings, hashes }: StoredFacts): JobStorage {
  return {
    job_id: job.jobId,
    storage: job.terms.storage,
    kept: [
      requests(job),
      ...results(job, holdings),
      ...artifacts(job),
      ...holdings.map((holding) => providerFiles(job, holding)),
    ],
    ...presentRaw(job),
    raw_output_note: rawOutputNote(job),
    results_readable_until: presentTime(readableUntil(job)),
    provider_retrieval_deadline: presentTime(job.retrievalDeadline),
    gateway_deletion_deadline: presentTime(gatewayDeletion(job)),
    request_body_deleted_at: presentTime(job.requestBodyDeletedAt),
    content_deleted_at: presentTime(job.contentDeletedAt),
    provider_files_deleted_at: presentTime(job.providerFilesDeletedAt),
    hashes,
  };
}

type RawFacts = Pick<JobStorage, 'raw_input_stored' | 'raw_output_stored' | 'artifact_location'>;
type RawSources = Pick<JobRecord, 'jobId' | 'contentDeletedAt' | 'requestBodyDeletedAt' | 'rawOutput'>;

/** Whether the gateway has a job's content as it was sent and as it came, and where within its artifact store. */
export function presentRaw(job: RawSources): RawFacts {
  const isKept = job.contentDeletedAt === null;
  return {
    raw_input_stored: isKept && job.requestBodyDeletedAt === null,
    raw_output_stored: isKept && job.rawOutput === true,
    artifact_location: isKept && job.rawOutput !== null ? artifactPrefix(job.jobId) : null,
  };
}

/** Why not, where it has not the provider's own files. */
function rawOutputNote(job: JobRecord): JobStorage['raw_output_note'] {
  if (job.terms.storage !== 'raw') return 'policy';
  if (job.contentDeletedAt !== null) return 'deleted';
  if (job.rawOutput === null) return 'none';
  return job.rawOutput ? null : 'incomplete';
}

/** When the gateway deletes, or deleted, what it keeps of a job; null while that is not known, and for never. */
export function gatewayDeletion({
  terms,
  completedAt,
  contentDeletedAt,
}: Pick<JobRecord, 'terms' | 'completedAt' | 'contentDeletedAt'>): Date | null {
  return contentDeletedAt ?? (completedAt === null ? null : contentDueAt(terms, completedAt));
}

/** Without a policy that ends them sooner they go with all other content. */
function requests(job: JobRecord): Kept {
  const until = keepsContent(job.terms.storage) ? gatewayDeletion(job) : job.completedAt;
  const deletedAt = job.requestBodyDeletedAt ?? job.contentDeletedAt;
  return { kind: 'requests', held_by: 'gateway', until: presentTime(until), deleted_at: presentTime(deletedAt) };
}

function results(job: JobRecord, holdings: readonly ProviderHolding[]): Kept[] {
  if (!keepsContent(job.terms.storage)) {
    return holdings.map(({ provider, deletedAt }) => ({
      kind: 'results',
      held_by: provider,
      until: presentTime(readableUntil(job)),
      deleted_at: presentTime(deletedAt),
    }));
  }
  const times = { until: presentTime(gatewayDeletion(job)), deleted_at: presentTime(job.contentDeletedAt) };
  return [{ kind: 'results', held_by: 'gateway', ...times }];
}

function artifacts(job: JobRecord): Kept[] {
  if (job.rawOutput === null) return [];
  const times = { until: presentTime(gatewayDeletion(job)), deleted_at: presentTime(job.contentDeletedAt) };
  return [{ kind: 'artifacts', held_by: 'gateway', ...times }];
}

function providerFiles(job: JobRecord, { provider, deletedAt }: ProviderHolding): Kept {
  const dueAt = job.completedAt === null ? null : providerFilesDueAt(job.terms, job.completedAt);
  const until = dueAt ?? job.retrievalDeadline;
  return { kind: 'provider_files', held_by: provider, until: presentTime(until), deleted_at: presentTime(deletedAt) };
}
