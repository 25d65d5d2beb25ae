import { toUuid } from '../../db/ids.ts';
import { batchJobWorkflowId, providerBatchWorkflowId } from '../../workflows/ids.ts';
import { cancelSignal, pollNowSignal } from '../../workflows/messages.ts';
import type { ChaosStack } from './chaos-stack.ts';
import type { Act } from './plan.ts';
import type { JobTrace } from './run-job.ts';
import type { StubbornClient } from './stubborn-client.ts';

/** What acts act upon. */
export interface Scene {
  readonly stack: ChaosStack;
  readonly jobs: readonly JobTrace[];
  /** Client of each job's tenant, by the job's place. */
  readonly clients: readonly StubbornClient[];
}

const TEMPORAL_CALL_MS = 2_000;

/** Does what is planned, once; a job that is not there yet, and a server that is away, are passed over. */
export async function performAct(scene: Scene, act: Act): Promise<void> {
  const { stack } = scene;
  switch (act.kind) {
    case 'kill_api':
      return stack.killApi();
    case 'kill_worker':
      return stack.killWorker(act.worker);
    case 'kill_all':
      stack.killApi();
      stack.killWorker(0);
      return stack.killWorker(1);
    case 'freeze_worker':
      return stack.freezeWorker(act.worker, act.forMs);
    case 'restart_temporal':
      return stack.restartTemporal(act.signal);
    case 'restart_postgres':
      return stack.restartPostgres(act.mode);
    case 'cut_connections':
      return stack.cutConnections().catch(() => undefined);
    case 'fault':
      await stack.control.faults(act.fault);
      return;
    case 'advance_clock':
      await stack.control.advance(act.byMs);
      return;
    default:
      return actOnJob(scene, act);
  }
}

type JobAct = Extract<Act, { readonly job: number }>;

async function actOnJob(scene: Scene, act: JobAct): Promise<void> {
  const jobId = scene.jobs[act.job]?.jobId ?? null;
  if (jobId === null) return;
  switch (act.kind) {
    case 'cancel_job':
      return cancel(scene, act, jobId);
    case 'cancel_at_provider':
      return cancelAtProvider(scene, jobId);
    case 'terminate':
      return terminate(scene, act, jobId);
    case 'poll_now':
      return onTemporal(scene, () =>
        scene.stack.temporal.workflow.getHandle(batchJobWorkflowId(jobId)).signal(pollNowSignal),
      );
  }
}

async function cancel(
  scene: Scene,
  { road, job }: Extract<Act, { readonly kind: 'cancel_job' }>,
  jobId: string,
): Promise<void> {
  const handle = scene.stack.temporal.workflow.getHandle(batchJobWorkflowId(jobId));
  switch (road) {
    case 'api':
      await scene.clients[job]?.call('POST', `/v1/batch-jobs/${jobId}/cancel`, { json: { reason: 'chaos' } });
      return;
    case 'signal':
      return onTemporal(scene, () => handle.signal(cancelSignal, { by: 'chaos' }));
    case 'temporal':
      return onTemporal(scene, async () => {
        await handle.cancel();
      });
  }
}

async function cancelAtProvider({ stack }: Scene, jobId: string): Promise<void> {
  const { rows } = await stack.db.pool
    .query<{ id: string }>(
      `SELECT provider_batch_id AS id FROM batch_provider_metadata
       WHERE job_id = $1 AND provider_batch_id IS NOT NULL AND closed_at IS NULL ORDER BY attempt_no LIMIT 1`,
      [toUuid('job', jobId)],
    )
    .catch(() => ({ rows: [] }));
  for (const { id } of rows) await stack.control.batch(id, { cancel: true });
}

async function terminate(
  scene: Scene,
  { what }: Extract<Act, { readonly kind: 'terminate' }>,
  jobId: string,
): Promise<void> {
  const shards = [1, 2, 3, 4, 5].map((shard) => providerBatchWorkflowId(jobId, shard));
  const ids = [...(what === 'shards' ? [] : [batchJobWorkflowId(jobId)]), ...(what === 'job' ? [] : shards)];
  for (const id of ids)
    await onTemporal(scene, async () => {
      await scene.stack.temporal.workflow.getHandle(id).terminate('chaos');
    });
}

/** A workflow that has not begun or has ended, and a server that is away, refuse: an operator would see that, too. */
async function onTemporal({ stack }: Scene, call: () => Promise<void>): Promise<void> {
  await stack.temporal.connection.withDeadline(Date.now() + TEMPORAL_CALL_MS, call).catch(() => undefined);
}
