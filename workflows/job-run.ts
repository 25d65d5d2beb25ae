import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  condition,
  getExternalWorkflowHandle,
  ParentClosePolicy,
  proxyActivities,
  setCurrentDetails,
  startChild,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { AdmissionVerdict, JobActivities, JobRef, ShardsView } from '../activities/interfaces.ts';
import { providerBatchWorkflowId } from './ids.ts';
import { type BatchJobInput, type BatchJobState, type CancelRequest, cancelSignal, pollNowSignal } from './messages.ts';
import { BULK_DATABASE_POLICY, DATABASE_POLICY } from './policies.ts';
import type { providerBatch } from './provider-batch.ts';
import { searchAttributes } from './search-attributes.ts';

const database = proxyActivities<JobActivities>(DATABASE_POLICY);
const bulk = proxyActivities<JobActivities>(BULK_DATABASE_POLICY);

/** How long the job trusts its shards' signals before it looks by itself. */
const LOOK_AGAIN_MS = 5 * 60_000;

/** The run of one job: what it shows, what wakes it, and its steps. */
export class JobRun {
  readonly state: BatchJobState;
  readonly #input: BatchJobInput;
  readonly #job: JobRef;
  #verdict: AdmissionVerdict | null = null;
  #woken = false;
  #cancel: CancelRequest | null = null;
  #cancelRecorded = false;
  #pollWanted = false;
  readonly #started = new Set<number>();
  readonly #cancelled = new Set<number>();

  constructor(input: BatchJobInput) {
    this.#input = input;
    this.#job = { jobId: input.jobId };
    this.state = {
      v: 1,
      jobId: input.jobId,
      stage: 'admitting',
      status: 'validating',
      cancelRequested: false,
      shards: { total: 0, open: 0, settled: 0 },
    };
  }

  wake(): void {
    this.#woken = true;
  }

  /** Payloads come from people and the Web UI, so anything is accepted; the first request wins. */
  requestCancel(request: unknown): void {
    this.#cancel ??= readCancelRequest(request);
    this.wake();
  }

  requestPoll(): void {
    this.#pollWanted = true;
    this.wake();
  }

  async verdict(): Promise<AdmissionVerdict> {
    await condition(() => this.#verdict !== null);
    return this.#verdict ?? { verdict: 'stale' };
  }

  carriedOver(): BatchJobInput {
    return this.#input;
  }

  async admit(): Promise<AdmissionVerdict> {
    this.#show('admitting');
    const verdict = await bulk.admitJob({ ...this.#job, submissionNo: this.#input.submissionNo });
    this.#verdict = verdict;
    return verdict;
  }

  async plan(): Promise<void> {
    this.#show('planning');
    const { shards } = await bulk.planShards(this.#job);
    this.state.shards.total = shards;
  }

  /**
   * Looks at the shards' rows, starts those whose turn it is, passes a cancel on, and waits for news. True once all
   * are settled. A child's result is never awaited: after a recovery there would be none to await.
   */
  async advance(): Promise<boolean> {
    await this.#recordCancel();
    this.#woken = false;
    const view = await database.readShards(this.#job);
    this.#take(view);
    if (view.settled === view.total) return true;
    for (const shard of view.toStart) await this.#start(shard);
    if (view.cancelRequested) await this.#passOn(view, cancelSignal, this.#cancelled);
    if (this.#pollWanted) {
      this.#pollWanted = false;
      await this.#passOn(view, pollNowSignal, new Set());
    }
    const signalled = await condition(() => this.#woken, LOOK_AGAIN_MS, {
      summary: `${view.total - view.settled} shards open`,
    });
    // A shard whose workflow ended early sends nothing; starting it again is harmless where it still runs.
    if (!signalled) this.#started.clear();
    return false;
  }

  async reconcile(): Promise<{ state: string }> {
    this.#show('reconciling');
    await this.#recordCancel();
    const { state } = await bulk.reconcileJob(this.#job);
    this.state.status = state;
    upsertSearchAttributes([{ key: searchAttributes.status, value: state }]);
    this.#show('ended');
    return { state };
  }

  async #recordCancel(): Promise<void> {
    if (this.#cancel === null || this.#cancelRecorded) return;
    await database.recordCancel({ ...this.#job, by: this.#cancel.by ?? 'signal', reason: this.#cancel.reason ?? null });
    this.#cancelRecorded = true;
  }

  #take(view: ShardsView): void {
    this.state.cancelRequested = view.cancelRequested;
    this.state.shards = { total: view.total, settled: view.settled, open: view.open.length };
    if (view.status !== this.state.status)
      upsertSearchAttributes([{ key: searchAttributes.status, value: view.status }]);
    this.state.status = view.status;
    this.#show('running');
  }

  async #start({ shard, provider, providerModel, items }: ShardsView['toStart'][number]): Promise<void> {
    if (this.#started.has(shard)) return;
    this.#started.add(shard);
    try {
      await startChild<typeof providerBatch>('providerBatch', {
        workflowId: providerBatchWorkflowId(this.#input.jobId, shard),
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        // Terminating the job must not strand a paid batch.
        parentClosePolicy: ParentClosePolicy.ABANDON,
        args: [{ v: 1, jobId: this.#input.jobId, shard, provider }],
        staticSummary: `${provider}/${providerModel} · shard ${shard} · ${items} items`,
      });
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
  }

  async #passOn(
    view: ShardsView,
    signal: typeof cancelSignal | typeof pollNowSignal,
    told: Set<number>,
  ): Promise<void> {
    for (const { shard } of view.open) {
      if (told.has(shard)) continue;
      told.add(shard);
      try {
        await getExternalWorkflowHandle(providerBatchWorkflowId(this.#input.jobId, shard)).signal(signal);
      } catch {
        // Ended or not started: its rows say what it has to do.
      }
    }
  }

  #show(stage: BatchJobState['stage']): void {
    this.state.stage = stage;
    const { total, settled } = this.state.shards;
    const rows = [
      ['job', this.#input.jobId],
      ['status', this.state.status],
      ['shards settled', `${settled} of ${total}`],
      ['cancel requested', this.state.cancelRequested ? 'yes' : 'no'],
    ];
    setCurrentDetails(
      [`**${stage}**`, '', '| | |', '| --- | --- |', ...rows.map(([name, value]) => `| ${name} | ${value} |`)].join(
        '\n',
      ),
    );
  }
}

function readCancelRequest(request: unknown): CancelRequest {
  if (typeof request !== 'object' || request === null) return {};
  const { by, reason } = request as Record<string, unknown>;
  return {
    ...(typeof by === 'string' ? { by: by.slice(0, 200) } : {}),
    ...(typeof reason === 'string' ? { reason: reason.slice(0, 500) } : {}),
  };
}
