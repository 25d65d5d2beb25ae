import { condition, getExternalWorkflowHandle, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type {
  AttemptRef,
  PollResult,
  ProviderActivities,
  ShardActivities,
  ShardRef,
  WaitingReason,
} from '../activities/interfaces.ts';
import type { CloseReason } from '../domain/close-reason.ts';
import { historyIsLong } from './history.ts';
import { batchJobWorkflowId } from './ids.ts';
import { type ProviderBatchInput, type ProviderBatchState, shardChangedSignal } from './messages.ts';
import { BULK_DATABASE_POLICY, DATABASE_POLICY, INGEST_POLICY, POLL_POLICY, SUBMIT_POLICY } from './policies.ts';
import { providerQueue } from './task-queues.ts';

const database = proxyActivities<ShardActivities>(DATABASE_POLICY);
const bulk = proxyActivities<ShardActivities>(BULK_DATABASE_POLICY);

/** The run of one shard: what it shows, what wakes it, and its steps. Progress that matters is in Postgres. */
export class ShardRun {
  readonly state: ProviderBatchState;
  readonly #input: ProviderBatchInput;
  readonly #shard: ShardRef;
  readonly #submitting;
  readonly #polling;
  readonly #ingesting;
  #woken = false;
  #pollsWithoutChange: number;
  #cancelsAsked = 0;

  constructor(input: ProviderBatchInput) {
    this.#input = input;
    this.#shard = { jobId: input.jobId, shard: input.shard };
    this.#pollsWithoutChange = input.pollsWithoutChange ?? 0;
    const taskQueue = providerQueue(input.provider);
    this.#submitting = proxyActivities<ProviderActivities>({
      ...SUBMIT_POLICY,
      taskQueue,
      summary: 'build, upload and create',
    });
    this.#polling = proxyActivities<ProviderActivities>({ ...POLL_POLICY, taskQueue });
    this.#ingesting = proxyActivities<ProviderActivities>({
      ...INGEST_POLICY,
      taskQueue,
      summary: 'download and settle results',
    });
    this.state = {
      v: 1,
      jobId: input.jobId,
      shard: input.shard,
      attempt: 0,
      stage: 'starting',
      nativeStatus: null,
      polls: input.polls ?? 0,
      nextPollAt: null,
      cancelRequested: false,
    };
  }

  /** Ends whatever wait the shard is in. */
  wake(): void {
    this.#woken = true;
  }

  carriedOver(): ProviderBatchInput {
    return { ...this.#input, polls: this.state.polls, pollsWithoutChange: this.#pollsWithoutChange };
  }

  /** One step by the shard's rows; true once the shard is settled. */
  async advance(): Promise<boolean> {
    const step = await database.nextStep(this.#shard);
    if (step.kind === 'settled') return true;
    if (step.kind === 'close') return this.#close(step.reason);
    this.state.attempt = step.attempt;
    const attempt = { ...this.#shard, attempt: step.attempt };
    if (step.kind === 'submit') return this.#submit(attempt);
    if (step.kind === 'resolve') return this.#resolve(attempt, step.lookAfterMs);
    this.state.nativeStatus ??= step.nativeStatus;
    const end = await this.#pollToTheEnd(attempt);
    if (end === null) return false;
    return end.kind === 'lost' ? this.#close('lost') : this.#ingest(attempt);
  }

  /** The job may have been terminated or be between runs; it re-reads the rows anyway. */
  async tellJob(): Promise<void> {
    try {
      await getExternalWorkflowHandle(batchJobWorkflowId(this.#input.jobId)).signal(shardChangedSignal);
    } catch {
      // Nobody to tell.
    }
  }

  async #submit(attempt: AttemptRef): Promise<boolean> {
    this.#show(`submitting attempt ${attempt.attempt}`);
    const result = await this.#submitting.submitAttempt(attempt);
    switch (result.kind) {
      case 'accepted':
        await this.tellJob();
        return false;
      case 'unknown':
        this.#show('create unanswered');
        await this.#wait(result.lookAfterMs, 'let the create deadline pass before looking for the batch');
        return false;
      case 'wait':
        if (result.giveUp !== null) return this.#close(result.giveUp);
        this.#show(waitingFor(result.reason));
        await this.#wait(result.delayMs, `${waitingFor(result.reason)}; submit again`);
        return false;
      case 'close':
        return this.#close(result.reason);
    }
  }

  async #resolve(attempt: AttemptRef, lookAfterMs: number): Promise<boolean> {
    if (lookAfterMs > 0) await this.#wait(lookAfterMs, 'let the create deadline pass before looking for the batch');
    for (let look = 1; !historyIsLong(); look += 1) {
      this.#show('looking for the batch of an unanswered create');
      const result = await this.#polling.resolveAttempt({ ...attempt, look });
      if (result.kind === 'accepted' || result.kind === 'not_found') break;
      if (result.kind === 'indeterminate') this.#show(`indeterminate: ${result.candidates} candidates`);
      await this.#wait(result.delayMs, 'look for the batch again');
    }
    return false;
  }

  /** Null when the history has grown long before the provider's end. */
  async #pollToTheEnd(attempt: AttemptRef): Promise<PollResult | null> {
    while (!historyIsLong()) {
      const poll = { ...attempt, pollsWithoutChange: this.#pollsWithoutChange };
      const result = await this.#polling.pollAttempt(poll);
      this.state.polls += 1;
      this.state.cancelRequested = result.cancelRequested;
      this.#pollsWithoutChange = result.changed ? 0 : this.#pollsWithoutChange + 1;
      if (result.changed) {
        this.state.nativeStatus = result.nativeStatus;
        await this.tellJob();
      }
      if (result.kind !== 'open') return result;
      if (result.cancelRequested) await this.#askForCancel(attempt);
      this.#show(result.nativeStatus);
      await this.#wait(result.delayMs, `then poll ${this.state.polls + 1}`);
    }
    return null;
  }

  /** A cancel that was refused or never answered is asked for again, less and less often. */
  async #askForCancel(attempt: AttemptRef): Promise<void> {
    this.#cancelsAsked += 1;
    if ((this.#cancelsAsked & (this.#cancelsAsked - 1)) === 0) await this.#polling.cancelAttempt(attempt);
  }

  async #ingest(attempt: AttemptRef): Promise<boolean> {
    for (;;) {
      this.#show('bringing results home');
      const result = await this.#ingesting.ingestAttempt(attempt);
      switch (result.next) {
        case 'again':
          await this.#wait(result.delayMs, `${result.remaining} items without a result; download once more`);
          break;
        case 'resubmit':
          this.#show(result.waiting === null ? 'resubmitting' : waitingFor(result.waiting));
          await this.#wait(result.delayMs, `${result.remaining} items go into a new batch`);
          return false;
        case 'close':
          return this.#close(result.reason);
      }
    }
  }

  async #close(reason: CloseReason): Promise<true> {
    this.#show(`settling (${reason.replaceAll('_', ' ')})`);
    await bulk.closeShard({ ...this.#shard, reason });
    this.#show('settled');
    return true;
  }

  async #wait(delayMs: number, summary: string): Promise<void> {
    this.state.nextPollAt = new Date(Date.now() + delayMs).toISOString();
    this.#show(this.state.stage);
    await condition(() => this.#woken, Math.max(delayMs, 1), { summary });
    this.#woken = false;
    this.state.nextPollAt = null;
  }

  #show(stage: string): void {
    this.state.stage = stage;
    setCurrentDetails(detailsOf(this.#input, this.state));
  }
}

function waitingFor(reason: WaitingReason): string {
  return `waiting for ${reason.replaceAll('_', ' ')}`;
}

/** Markdown for the Web UI: where the shard stands and what happens next. */
function detailsOf(input: ProviderBatchInput, state: ProviderBatchState): string {
  const rows = [
    ['job', input.jobId],
    ['shard', `${input.shard}, attempt ${state.attempt}`],
    ['provider', input.provider],
    ['native status', state.nativeStatus ?? 'not known yet'],
    ['polls', String(state.polls)],
    ['next step at', state.nextPollAt ?? 'now'],
    ['cancel requested', state.cancelRequested ? 'yes' : 'no'],
  ];
  return [
    `**${state.stage}**`,
    '',
    '| | |',
    '| --- | --- |',
    ...rows.map(([name, value]) => `| ${name} | ${value} |`),
  ].join('\n');
}
