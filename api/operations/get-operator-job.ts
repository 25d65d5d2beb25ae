import type { OperatorJob } from '../../contracts/operator-job.ts';
import { listCapacityViews } from '../../db/capacity-views.ts';
import type { JobRecord } from '../../db/job-view.ts';
import { findJob } from '../../db/jobs.ts';
import { listOperatorActs } from '../../db/operator-acts.ts';
import { findUnmatchedLines, listProviderBatchViews, listShardViews, type ShardView } from '../../db/operator-job.ts';
import { findSubmission } from '../../db/submissions.ts';
import { isTerminal } from '../../domain/job-state.ts';
import { isShardOpen } from '../../domain/shard-state.ts';
import { batchJobWorkflowId } from '../../workflows/ids.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentJob } from '../presentation/job.ts';
import { presentAct, presentCapacity, presentShard, presentUnmatchedLine } from '../presentation/operator-job.ts';
import { presentTime } from '../presentation/time.ts';
import { noSuchJob } from './owned-job.ts';

type Dependencies = Pick<ApiDependencies, 'db' | 'workflows' | 'temporalUi'>;

/** Any tenant's job with what the providers call its parts, and what its workflow says of itself. */
export async function getOperatorJob(dependencies: Dependencies, jobId: string): Promise<OperatorJob> {
  const { db } = dependencies;
  const job = await findJob(db.pool, null, jobId);
  if (job === null) throw noSuchJob();
  const shards = await listShardViews(db.pool, job.uuid);
  const batches = await listProviderBatchViews(db.pool, job.uuid);
  const submission = await findSubmission(db.pool, job, job.submissionNo);
  const capacity = await listCapacityViews(db.pool, job.uuid);
  const unmatched = await findUnmatchedLines(db.pool, job.uuid);
  return {
    job: presentJob(job),
    api_key_id: job.apiKeyId,
    submission_no: job.submissionNo,
    admitted_at: presentTime(job.admittedAt),
    manifest_no: job.manifestNo,
    resolved_provider: job.resolvedProvider,
    resolved_provider_model: job.resolvedProviderModel,
    price_book_version: job.priceBookVersion,
    rejected_targets: [...(submission?.rejectedTargets ?? [])],
    workflow: await viewWorkflow(dependencies, job, shards),
    shards: shards.map((shard) => presentShard(shard, batches)),
    capacity: capacity.map(presentCapacity),
    acts: (await listOperatorActs(db.pool, job.uuid)).map(presentAct),
    unmatched: { count: unmatched.count, lines: unmatched.lines.map(presentUnmatchedLine) },
  };
}

/** A draft has no workflow to ask; where the workflow does not answer, the rows say what it would. */
async function viewWorkflow(
  { workflows, temporalUi }: Dependencies,
  job: JobRecord,
  shards: readonly ShardView[],
): Promise<OperatorJob['workflow']> {
  const id = batchJobWorkflowId(job.jobId);
  const url =
    temporalUi === null
      ? null
      : new URL(
          `namespaces/${encodeURIComponent(temporalUi.namespace)}/workflows/${encodeURIComponent(id)}`,
          `${temporalUi.url}/`,
        ).href;
  const state = job.submissionNo === 0 ? null : await workflows.queryState(job.jobId);
  if (state !== null) return { workflow_id: id, url, state_source: 'workflow', state };
  return { workflow_id: id, url, state_source: 'rows', state: stateFromRows(job, shards) };
}

function stateFromRows(job: JobRecord, shards: readonly ShardView[]) {
  const open = shards.filter((shard) => isShardOpen(shard.state)).length;
  return {
    v: 1,
    jobId: job.jobId,
    stage: stageFromRows(job, shards.length, open),
    status: job.state,
    cancelRequested: job.cancelRequestedAt !== null,
    shards: { total: shards.length, open, settled: shards.length - open },
  };
}

function stageFromRows(job: JobRecord, total: number, open: number): string {
  if (isTerminal(job.state)) return 'ended';
  if (job.admittedAt === null) return 'admitting';
  if (total === 0) return 'planning';
  return open > 0 ? 'running' : 'reconciling';
}
