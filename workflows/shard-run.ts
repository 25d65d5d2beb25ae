import {
  condition,
  getExternalWorkflowHandle,
  proxyActivities,
  setCurrentDetails,
  sleep,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { AttemptRef, PollResult, ShardActivities, ShardRef, SubmitResult } from '../activities/interfaces.ts';
import type { CloseReason } from '../domain/close-reason.ts';
import type { ShardState } from '../domain/shard-state.ts';
import { historyIsLong } from './history.ts';
import { batchJobWorkflowId } from './ids.ts';
import { Interruptible } from './interruptible.ts';
import { type ProviderBatchInput, type ProviderBatchState, shardChangedSignal } from './messages.ts';
import { ownAttribute } from './own-attribute.ts';
import { BULK_DATABASE_POLICY, DATABASE_POLICY } from './policies.ts';
import { searchAttributes } from './search-attributes.ts';
import { providerActivities } from './shard-activities.ts';
import { detailsOf, waitingFor } from './shard-details.ts';

const { nextStep } = proxyActivities<ShardActivities>({ ...DATABASE_POLICY, summary: 'read what comes next' });
const { closeShard } = proxyActivities<ShardActivities>({ ...BULK_DATABASE_POLICY, summary: 'settle what is left' });

/** A batch may end soon after its cancel, however long the waits had become before. */
const AFTER_CANCEL_MS = 1_000;

const CREATE_DEADLINE = 'let the create deadline pass before looking for the batch';

/** The run of one shard: what it shows, what wakes it, and its steps. Progress that matters is in Postgres. */
export class ShardRun {
  readonly state: ProviderBatchState;
  readonly #input: ProviderBatchInput;
  readonly #shard: ShardRef;
  readonly #provider;
  #woken = false;
  #cancelHeard = false;
  #rowsChanged = false;
  readonly #upload = new Interruptible();
  /** Whatever else is given up when the rows change. */
  readonly #underWay = new Interruptible();
  #pollsWithoutChange: number;
  #pollsSinceCancel: number;

  constructor(input: ProviderBatchInput) {
    this.#input = input;
    this.#shard = { jobId: input.jobId, shard: input.shard };
    this.#pollsWithoutChange = input.pollsWithoutChange ?? 0;
    this.#pollsSinceCancel = input.pollsSinceCancel ?? 0;
    this.#provider = providerActivities(input.provider);
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
      deadlinePassed: false,
    };
  }

  /** Ends whatever wait the shard is in, but for those that keep a second batch from being made. */
  wake(): void {
    this.#woken = true;
  }

  /** Wakes, and stops an upload. Whether a cancel was requested, only the job's row tells. */
  hearCancel(): void {
    this.#cancelHeard = true;
    this.#upload.interrupt();
    this.wake();
  }

  /** Wakes, and stops what is under way: the rows say what comes next. */
  readRows(): void {
    this.#rowsChanged = true;
    this.#upload.interrupt();
    this.#underWay.interrupt();
    this.wake();
  }

  /** Whether the rows changed after they were last read. */
  get haveRowsChanged(): boolean {
    return this.#rowsChanged;
  }

  carriedOver(): ProviderBatchInput {
    const [polls, pollsWithoutChange] = [this.state.polls, this.#pollsWithoutChange];
    return { ...this.#input, polls, pollsWithoutChange, pollsSinceCancel: this.#pollsSinceCancel };
  }

  /** One step by the shard's rows; true once the shard is settled. */
  async advance(): Promise<boolean> {
    this.#cancelHeard = false;
    this.#rowsChanged = false;
    const step = await nextStep(this.#shard);
    if (step.kind === 'settled' && step.reread === true) return this.#reread();
    if (step.kind === 'settled') {
      this.#show('settled', 'settled');
      return true;
    }
    if (step.kind === 'close') {
      if (step.reason === 'given_up') await this.#abandon();
      return this.#close(step.reason);
    }
    if (step.kind === 'held') return this.#holdBack(step.delayMs);
    this.#turnTo(step.attempt);
    const attempt = { ...this.#shard, attempt: step.attempt };
    if (step.kind === 'submit') return this.#submit(attempt);
    if (step.kind === 'resolve') return this.#resolve(attempt, step.lookAfterMs);
    this.state.nativeStatus ??= step.nativeStatus;
    const end = await this.#pollToTheEnd(attempt);
    if (end === null) return false;
    if (end.kind !== 'lost') return this.#ingest(attempt);
    if (end.mayRun === true) await this.#abandon();
    return this.#close(end.close ?? 'lost');
  }

  /** The job may have been terminated or be between runs; it re-reads the rows anyway. */
  async tellJob(): Promise<void> {
    try {
      await getExternalWorkflowHandle(batchJobWorkflowId(this.#input.jobId)).signal(shardChangedSignal);
    } catch {
      // Nobody to tell.
    }
  }

  async #holdBack(delayMs: number): Promise<false> {
    this.#show('planned', 'held back until its time');
    await this.#wait(delayMs, 'not before its time');
    return false;
  }

  /** What was learned of an attempt says nothing of the next. */
  #turnTo(attempt: number): void {
    if (this.state.attempt !== 0 && this.state.attempt !== attempt) {
      this.state.nativeStatus = null;
      this.#pollsWithoutChange = 0;
    }
    this.state.attempt = attempt;
  }

  async #submit(attempt: AttemptRef): Promise<boolean> {
    this.#show('uploading', `submitting attempt ${attempt.attempt}`);
    const result = await this.#sendUnlessCancelled(attempt);
    // Stopped: the rows tell whether by a cancel.
    if (result === null) return false;
    switch (result.kind) {
      case 'accepted':
        this.#show('submitted', 'submitted');
        await this.tellJob();
        return false;
      case 'split':
        this.#show('superseded', 'split in two');
        return true;
      case 'unknown':
        this.#show('creating', 'create unanswered');
        await this.#wait(result.lookAfterMs, CREATE_DEADLINE);
        return false;
      case 'wait':
        if (result.giveUp !== null) return this.#close(result.giveUp);
        this.#show('waiting', waitingFor(result.reason));
        await this.#wait(result.delayMs, `${waitingFor(result.reason)}; submit again`);
        return false;
      case 'close':
        return this.#close(result.reason);
    }
  }

  /** A cancel stops the upload within a heartbeat. A create that is on its way is awaited, whatever it answers. */
  async #sendUnlessCancelled(attempt: AttemptRef): Promise<SubmitResult | null> {
    // The rows were read before this cancel or change, or together with it.
    if (this.#cancelHeard || this.#rowsChanged) return null;
    return this.#upload.run(() => this.#provider.submitting.submitAttempt(attempt));
  }

  /** Null once the rows have changed: what was under way is given up. */
  async #unlessRowsChange<Result>(work: () => Promise<Result>): Promise<Result | null> {
    if (this.#rowsChanged) return null;
    return this.#underWay.run(work);
  }

  /**
   * Nothing cuts short the waits before a look, or between two: an answer that is too early would be "no such batch",
   * and the next attempt a second paid one.
   */
  async #resolve(attempt: AttemptRef, lookAfterMs: number): Promise<boolean> {
    this.#show('creating', 'create unanswered');
    if (lookAfterMs > 0) await this.#sleep(lookAfterMs, CREATE_DEADLINE);
    let look = 1;
    do {
      this.#show('creating', 'looking for the batch of an unanswered create');
      const options = { summary: `look ${look} for the batch` };
      const result = await this.#unlessRowsChange(() =>
        this.#provider.polling.resolveAttempt.executeWithOptions(options, [{ ...attempt, look }]),
      );
      if (result?.kind === 'accepted') await this.tellJob();
      if (result === null || result.kind === 'accepted' || result.kind === 'not_found') break;
      if (result.kind === 'close') return this.#close(result.reason);
      if (result.kind === 'look_again') {
        look += 1;
        await this.#sleep(result.delayMs, 'look for the batch again');
      } else if (result.kind === 'no_answer') {
        await this.#sleep(result.delayMs, 'ask the provider for the batch again');
      } else {
        look = 1;
        this.#show('indeterminate', `indeterminate: ${result.candidates} candidates`);
        const summary = `${result.candidates} batches may be its own: an operator may choose; else look again`;
        await this.#wait(result.delayMs, summary);
      }
    } while (!this.#mustReadRows());
    return false;
  }

  /** Null when the history has grown long before the provider's end, or the rows say something else now. */
  async #pollToTheEnd(attempt: AttemptRef): Promise<PollResult | null> {
    do {
      const poll = { ...attempt, pollsWithoutChange: this.#pollsWithoutChange };
      const options = { summary: `poll ${this.state.polls + 1}` };
      const result = await this.#unlessRowsChange(() =>
        this.#provider.polling.pollAttempt.executeWithOptions(options, [poll]),
      );
      if (result === null || result.readRows === true) return null;
      this.state.polls += 1;
      this.state.deadlinePassed = result.stopped === 'deadline';
      this.state.cancelRequested = result.cancelRequested && !this.state.deadlinePassed;
      this.#pollsWithoutChange = result.changed ? 0 : this.#pollsWithoutChange + 1;
      if (result.changed) {
        this.state.nativeStatus = result.nativeStatus;
        await this.tellJob();
      }
      if (result.kind !== 'open') return result;
      const asked = result.cancelRequested && (await this.#askForCancel(attempt));
      const delayMs = asked ? Math.min(result.delayMs, AFTER_CANCEL_MS) : result.delayMs;
      const { nativeStatus, waiting = null } = result;
      const stage = waiting === null ? nativeStatus : `${waitingFor(waiting)} (last seen ${nativeStatus})`;
      this.#show(result.cancelRequested ? 'cancelling' : 'running', stage);
      await this.#wait(delayMs, `${stage}; then poll ${this.state.polls + 1}`);
    } while (!this.#mustReadRows());
    return null;
  }

  /**
   * A cancel that was refused or never answered is asked for again, less and less often: after 1, 2, 4, 8, … polls.
   * True when the provider was asked.
   */
  async #askForCancel(attempt: AttemptRef): Promise<boolean> {
    this.#pollsSinceCancel += 1;
    const polls = this.#pollsSinceCancel;
    if ((polls & (polls - 1)) !== 0) return false;
    const options = { summary: 'ask the provider to cancel' };
    await this.#unlessRowsChange(() => this.#provider.polling.cancelAttempt.executeWithOptions(options, [attempt]));
    this.#pollsWithoutChange = 0;
    return true;
  }

  async #ingest(attempt: AttemptRef): Promise<boolean> {
    let reading = 1;
    do {
      this.#show('ingesting', 'bringing results home');
      const result = await this.#unlessRowsChange(() =>
        this.#provider.ingesting.ingestAttempt({ ...attempt, reading, mayRetry: true }),
      );
      if (result === null) return false;
      switch (result.next) {
        case 'again':
          await this.#wait(result.delayMs, `${result.remaining} items without a result; download once more`);
          reading += 1;
          break;
        case 'retry':
          this.#show('ingesting', `${waitingFor(result.waiting)}; the results cannot be read`);
          await this.#wait(result.delayMs, `${waitingFor(result.waiting)}; read the results again`);
          break;
        case 'resubmit':
          this.#show('waiting', result.waiting === null ? 'resubmitting' : waitingFor(result.waiting));
          await this.#wait(result.delayMs, `${result.remaining} items go into a new batch`);
          return false;
        case 'close':
          return this.#close(result.reason);
      }
    } while (!this.#mustReadRows());
    return false;
  }

  async #reread(): Promise<false> {
    this.#show(null, 'reading the results once more');
    await this.#unlessRowsChange(() => this.#provider.rereading.rereadResults(this.#shard));
    return false;
  }

  /** A best effort: the shard is closed whatever comes of it. */
  async #abandon(): Promise<void> {
    this.#show(null, 'given up: asking the provider to cancel');
    try {
      await this.#provider.abandoning.abandonBatch(this.#shard);
    } catch {
      // The provider, or a worker for it, is away.
    }
  }

  async #close(reason: CloseReason): Promise<true> {
    this.#show(null, `settling (${reason.replaceAll('_', ' ')})`);
    await closeShard({ ...this.#shard, reason });
    this.#show('settled', 'settled');
    return true;
  }

  async #wait(delayMs: number, summary: string): Promise<void> {
    this.#showNext(delayMs);
    await condition(() => this.#woken, Math.max(delayMs, 1), { summary });
    this.#woken = false;
    this.state.nextPollAt = null;
  }

  async #sleep(delayMs: number, summary: string): Promise<void> {
    this.#showNext(delayMs);
    await sleep(Math.max(delayMs, 1), { summary });
    this.state.nextPollAt = null;
  }

  /** Either makes the next step be read from the rows, by this run or by the next. */
  #mustReadRows(): boolean {
    return this.#rowsChanged || this.#historyIsLong();
  }

  #historyIsLong(): boolean {
    return historyIsLong(this.#input.maxHistoryEvents);
  }

  #showNext(delayMs: number): void {
    this.state.nextPollAt = new Date(Date.now() + delayMs).toISOString();
    setCurrentDetails(detailsOf(this.#input, this.state));
  }

  /** Null leaves the searchable status as it is. */
  #show(status: ShardState | null, stage: string): void {
    this.state.stage = stage;
    setCurrentDetails(detailsOf(this.#input, this.state));
    if (status !== null && ownAttribute(searchAttributes.status) !== status)
      upsertSearchAttributes([{ key: searchAttributes.status, value: status }]);
  }
}
