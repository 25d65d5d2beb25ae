import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  condition,
  getExternalWorkflowHandle,
  proxyActivities,
  setCurrentDetails,
  startChild,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { AdmissionVerdict, JobActivities, JobRef, ShardsView } from '../activities/interfaces.ts';
import { detailsTable } from './details.ts';
import { providerBatchWorkflowId } from './ids.ts';
import { type BatchJobInput, type BatchJobState, type CancelRequest, cancelSignal, pollNowSignal } from './messages.ts';
import { ownAttribute } from './own-attribute.ts';
import { BULK_DATABASE_POLICY, DATABASE_POLICY } from './policies.ts';
import type { providerBatch } from './provider-batch.ts';
import { tryAgain } from './retry-wave.ts';
import { searchAttributes } from './search-attributes.ts';
import { shardStart } from './shard-start.ts';

const bulk = (summary: string) => proxyActivities<JobActivities>({ ...BULK_DATABASE_POLICY, summary });
const database = (summary: string) => proxyActivities<JobActivities>({ ...DATABASE_POLICY, summary });
const { admitJob } = bulk('validate, quote and reserve');
const { planShards } = bulk('cut the job into shards');
const { reconcileJob } = bulk('release what is left of the hold and end the job');
const { readShards } = database('read where the shards stand');
const { recordCancel } = database('record a cancel that came past the api');

/** How long the job trusts its shards' signals before it looks by itself. */
const LOOK_AGAIN_MS = 5 * 60_000;

/** The run of one job: what it shows, what wakes it, and its steps. */
export class JobRun {
  readonly state: BatchJobState;
  readonly #input: BatchJobInput;
  readonly #job: JobRef;
  #submissionNo: number;
  #newestSubmissionNo: number;
  readonly #verdicts = new Map<number, AdmissionVerdict>();
  #judged = false;
  #woken = false;
  #cancel: CancelRequest | null;
  #pollWanted: boolean;
  /** Shards whose workflow this run knows to have been started. Believed until `#believedUntil`. */
  readonly #started = new Set<number>();
  #believedUntil: number;
  readonly #cancelled = new Set<number>();
  #mayRetry = false;

  constructor(input: BatchJobInput) {
    this.#input = input;
    this.#job = { jobId: input.jobId };
    this.#submissionNo = input.submissionNo;
    this.#newestSubmissionNo = input.submissionNo;
    this.#cancel = input.cancel ?? null;
    this.#pollWanted = input.pollNow ?? false;
    this.#believedUntil = Date.now() + this.#lookAgainMs;
    this.state = {
      v: 1,
      jobId: input.jobId,
      stage: 'admitting',
      status: ownAttribute(searchAttributes.status) ?? 'validating',
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

  /** The verdict on a submission, `stale` for one that this run never comes to judge. */
  async verdict(submission: unknown): Promise<AdmissionVerdict> {
    const submissionNo = readSubmissionNo(submission) ?? this.#input.submissionNo;
    this.#newestSubmissionNo = Math.max(this.#newestSubmissionNo, submissionNo);
    await condition(() => this.#judged || this.#verdicts.has(submissionNo));
    return this.#verdicts.get(submissionNo) ?? { verdict: 'stale' };
  }

  /** What the next run needs to know: with it no signal heard by this one is lost. */
  carriedOver(): BatchJobInput {
    const { cancel: _cancel, pollNow: _pollNow, ...input } = this.#input;
    return {
      ...input,
      submissionNo: this.#submissionNo,
      ...(this.#cancel !== null && !this.state.cancelRequested && { cancel: this.#cancel }),
      ...(this.#pollWanted && { pollNow: true }),
    };
  }

  async admit(): Promise<AdmissionVerdict> {
    this.#show('admitting');
    for (;;) {
      const submissionNo = this.#submissionNo;
      await this.#recordCancel();
      const verdict = await admitJob({ ...this.#job, submissionNo });
      this.#verdicts.set(submissionNo, verdict);
      this.#judged = verdict.verdict === 'accepted' || this.#newestSubmissionNo <= submissionNo;
      if (this.#judged) return verdict;
      this.#submissionNo = this.#newestSubmissionNo;
    }
  }

  async plan(): Promise<void> {
    this.#show('planning');
    const { shards } = await planShards(this.#job);
    this.state.shards.total = shards;
  }

  /**
   * Looks at the shards' rows, starts those whose turn it is, passes a cancel on, and waits for news. True once all
   * are settled. A child's result is never awaited: after a recovery there would be none to await.
   */
  async advance(): Promise<boolean> {
    await this.#recordCancel();
    this.#woken = false;
    const view = await readShards(this.#job);
    this.#take(view);
    if (view.settled === view.total) return true;
    this.#doubt();
    await Promise.all(view.toStart.map((shard) => this.#start(shard)));
    if (view.cancelRequested) await this.#passOn(view, cancelSignal, this.#cancelled);
    if (this.#pollWanted) {
      this.#pollWanted = false;
      await this.#passOn(view, pollNowSignal, new Set());
    }
    const { heldForMs = 0 } = view;
    // A signal or the time itself ends that wait; until then there is nothing to look at.
    const lookAfterMs = heldForMs > 0 ? heldForMs : Math.max(1, this.#believedUntil - Date.now());
    const open = `${view.total - view.settled} shards open`;
    const summary = heldForMs > 0 ? `${open}; not before their time` : `${open}; then look again`;
    await condition(() => this.#woken, lookAfterMs, { summary });
    return false;
  }

  /** Tries items that failed again, if the job is to; false when it is over. */
  async tryAgain(): Promise<boolean> {
    if (!this.#mayRetry) return false;
    return tryAgain({
      job: this.#job,
      hasNewCancel: () => this.#cancel !== null && !this.state.cancelRequested,
      recordCancel: () => this.#recordCancel(),
      showWait: () => {
        this.#setStatus('running');
        this.#show('retrying');
      },
    });
  }

  /** `verdict` is that of a submission which was not accepted. */
  end({ verdict }: AdmissionVerdict): { state: string } {
    if (verdict === 'refused') this.#setStatus('draft');
    if (verdict === 'cancelled') this.#setStatus('cancelled');
    this.#show('ended');
    return { state: verdict };
  }

  async reconcile(): Promise<{ state: string }> {
    this.#show('reconciling');
    await this.#recordCancel();
    const { state } = await reconcileJob(this.#job);
    this.#setStatus(state);
    this.#show('ended');
    return { state };
  }

  get #lookAgainMs(): number {
    return this.#input.lookAgainMs ?? LOOK_AGAIN_MS;
  }

  async #recordCancel(): Promise<void> {
    if (this.#cancel === null || this.state.cancelRequested) return;
    await recordCancel({ ...this.#job, by: this.#cancel.by ?? 'signal', reason: this.#cancel.reason ?? null });
    this.state.cancelRequested = true;
  }

  /** A shard whose workflow was ended sends nothing. Starting one again is harmless where it still runs. */
  #doubt(): void {
    if (Date.now() < this.#believedUntil) return;
    this.#started.clear();
    this.#believedUntil = Date.now() + this.#lookAgainMs;
  }

  #take(view: ShardsView): void {
    this.state.cancelRequested = view.cancelRequested;
    this.#mayRetry = view.mayRetry ?? false;
    this.state.shards = { total: view.total, settled: view.settled, open: view.total - view.settled };
    const [provider, ...others] = new Set(view.toStart.map((shard) => shard.provider));
    // A job at several providers is found through its shards.
    if (provider !== undefined && others.length === 0 && ownAttribute(searchAttributes.provider) === undefined)
      upsertSearchAttributes([{ key: searchAttributes.provider, value: provider }]);
    this.#setStatus(view.status);
    this.#show('running');
  }

  #setStatus(status: string): void {
    if (status !== this.state.status) upsertSearchAttributes([{ key: searchAttributes.status, value: status }]);
    this.state.status = status;
  }

  async #start(shard: ShardsView['toStart'][number]): Promise<void> {
    if (this.#started.has(shard.shard)) return;
    this.#started.add(shard.shard);
    try {
      await startChild<typeof providerBatch>('providerBatch', shardStart(this.#input, shard));
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
  }

  async #passOn(
    view: ShardsView,
    signal: typeof cancelSignal | typeof pollNowSignal,
    told: Set<number>,
  ): Promise<void> {
    const listening = view.open.filter(({ shard, state }) => state !== 'planned' || this.#started.has(shard));
    await Promise.all(
      listening.map(async ({ shard }) => {
        if (told.has(shard)) return;
        told.add(shard);
        try {
          await getExternalWorkflowHandle(providerBatchWorkflowId(this.#input.jobId, shard)).signal(signal);
        } catch {
          // Its workflow has ended. The next look starts it again, unless its rows say that it had reason to end.
          if (this.#started.delete(shard)) this.wake();
        }
      }),
    );
  }

  #show(stage: BatchJobState['stage']): void {
    this.state.stage = stage;
    const { total, settled } = this.state.shards;
    setCurrentDetails(
      detailsTable(stage, [
        ['job', this.#input.jobId],
        ['tenant', ownAttribute(searchAttributes.tenant) ?? 'not known'],
        ['model', ownAttribute(searchAttributes.model) ?? 'not known'],
        ['status', this.state.status],
        ['shards settled', `${settled} of ${total}`],
        ['cancel requested', this.state.cancelRequested ? 'yes' : 'no'],
      ]),
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

function readSubmissionNo(submission: unknown): number | null {
  if (typeof submission !== 'object' || submission === null) return null;
  const { submissionNo } = submission as Record<string, unknown>;
  return typeof submissionNo === 'number' && Number.isSafeInteger(submissionNo) ? submissionNo : null;
}
