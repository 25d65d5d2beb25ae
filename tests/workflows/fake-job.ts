import type {
  AdmissionVerdict,
  AttemptRef,
  IngestResult,
  PollResult,
  ResolveResult,
  ShardStep,
  ShardsView,
  SubmitResult,
} from '../../activities/interfaces.ts';
import type { CloseReason } from '../../domain/close-reason.ts';
import type { JobEndState } from '../../domain/job-state.ts';
import { isShardOpen, type ShardState } from '../../domain/shard-state.ts';
import { FakeWaves, type WaveScript } from './fake-waves.ts';

/** What the activities of one job answer. Lists are taken from the front, by each shard for itself. */
export interface JobScript {
  readonly shards?: number;
  /** Shards at work at once. */
  readonly window?: number;
  /** By submission, the first being number 1; `accepted` beyond the list. */
  readonly verdicts?: readonly AdmissionVerdict['verdict'][];
  /** Accepted beyond the list. */
  readonly submit?: readonly SubmitResult[];
  /** Accepted beyond the list. */
  readonly resolve?: readonly ResolveResult[];
  /** Ended beyond the list, or open for as long as the job's `batchesOpen` says. */
  readonly poll?: readonly Partial<PollResult>[];
  /** Closed beyond the list. */
  readonly ingest?: readonly IngestResult[];
  /** Whether the provider takes a cancel; true beyond the list. A batch whose cancel was taken ends. */
  readonly cancel?: readonly boolean[];
  /** Between polls of an open batch, in milliseconds. */
  readonly pollDelayMs?: number;
  /** One for each time that all shards are settled; a job without has no retry policy. */
  readonly waves?: readonly WaveScript[];
  /** How the job ends, where it is neither completed nor, once a cancel was requested, cancelled. */
  readonly end?: JobEndState;
}

export interface Call {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export interface Gate {
  readonly opened: Promise<void>;
  readonly open: () => void;
  /** Whether a call that waits here ends when its activity is cancelled. */
  readonly heedsCancel: boolean;
  /** Whether a call waits with its answer, not with what it does. */
  readonly after: boolean;
}

/** The rows of one job, in memory, and everything that was asked of them. */
export class FakeJob {
  readonly jobId: string;
  readonly script: JobScript;
  readonly calls: Call[] = [];
  readonly shards: FakeShard[];
  /** Keeps batches running at the provider after the scripted polls. */
  batchesOpen = false;
  cancel: { by: string; reason: string | null } | null = null;
  /** When its shards may start, and when it is cut off; by the clock of the machine. */
  notBeforeMs: number | null = null;
  deadlineMs: number | null = null;
  ended: string | null = null;
  readonly waves: FakeWaves;
  readonly #gates = new Map<string, Gate>();
  readonly #stored = new Map<number, AdmissionVerdict['verdict']>();

  constructor(jobId: string, script: JobScript) {
    this.jobId = jobId;
    this.script = script;
    this.waves = new FakeWaves(script.waves ?? [], () => this.addShard());
    this.shards = Array.from({ length: script.shards ?? 1 }, (_, index) => new FakeShard(this, index + 1, script));
  }

  /** The inputs an activity was called with so far. */
  called(name: string): readonly Call['input'][] {
    return this.calls.filter((call) => call.name === name).map((call) => call.input);
  }

  /** Every call of the activity from now on waits, before it does anything, until released or cancelled. */
  hold(name: string, { heedsCancel = true, after = false } = {}): { release: () => void } {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#gates.set(name, { opened: promise, open: resolve, heedsCancel, after });
    return {
      release: () => {
        this.#gates.delete(name);
        resolve();
      },
    };
  }

  /** By what the job is stopped, as its rows would say. */
  get stopped(): 'cancelled' | 'deadline' | null {
    if (this.cancel !== null) return 'cancelled';
    return this.deadlineMs !== null && this.deadlineMs <= Date.now() ? 'deadline' : null;
  }

  get heldForMs(): number {
    return this.notBeforeMs === null || this.stopped !== null ? 0 : Math.max(0, this.notBeforeMs - Date.now());
  }

  /** Undefined where nothing holds the activity. */
  gate(name: string): Gate | undefined {
    return this.#gates.get(name);
  }

  releaseAll(): void {
    for (const gate of this.#gates.values()) gate.open();
    this.#gates.clear();
  }

  shard(shard: number): FakeShard {
    const found = this.shards[shard - 1];
    if (found === undefined) throw new Error(`${this.jobId} has no shard ${shard}`);
    return found;
  }

  admit(submissionNo: number): AdmissionVerdict {
    const stored = this.#stored.get(submissionNo);
    if (stored !== undefined) return { verdict: stored };
    if (this.cancel !== null) return { verdict: 'cancelled' };
    const verdict = this.script.verdicts?.[submissionNo - 1] ?? 'accepted';
    if (verdict === 'accepted' || verdict === 'refused') this.#stored.set(submissionNo, verdict);
    return { verdict };
  }

  view(): ShardsView {
    const open = this.shards.filter(({ state }) => isShardOpen(state));
    const working = open.filter(({ state }) => state !== 'planned');
    const room = Math.max(0, (this.script.window ?? 8) - working.length);
    const planned = open.filter(({ state }) => state === 'planned').slice(0, room);
    return {
      total: this.shards.length,
      settled: this.shards.length - open.length,
      open: open.slice(0, 50).map(({ shard, state }) => ({ shard, state })),
      ...(this.heldForMs > 0 && { heldForMs: this.heldForMs }),
      toStart: (this.heldForMs > 0 ? [] : [...working, ...planned]).map(({ shard }) => ({
        shard,
        provider: 'openai',
        providerModel: 'gpt-4.1-mini',
        items: 10,
      })),
      cancelRequested: this.cancel !== null,
      ...(this.script.waves !== undefined && { mayRetry: true }),
      status: this.cancel !== null ? 'cancel_requested' : open.length === 0 ? 'finalizing' : 'running',
    };
  }

  /** Two shards with nothing scripted, in the place of one. */
  addHalves(): void {
    for (const _half of [1, 2]) this.addShard();
  }

  addShard(): void {
    this.shards.push(new FakeShard(this, this.shards.length + 1, {}));
  }

  reconcile(): { state: string; itemsWithoutOutcome: number } {
    if (this.shards.some(({ state }) => isShardOpen(state))) throw new Error('a shard is not settled');
    this.ended ??= this.script.end ?? (this.cancel === null ? 'completed' : 'cancelled');
    return { state: this.ended, itemsWithoutOutcome: 0 };
  }
}

/** The rows of one shard: its state and its last attempt. */
export class FakeShard {
  readonly #job: FakeJob;
  readonly #script: JobScript;
  readonly shard: number;
  state: ShardState = 'planned';
  attempt = 0;
  closed: CloseReason | null = null;
  /** Marks that operators set on the row. */
  givenUp = false;
  rereadRequested = false;
  chosen = false;
  /** How often the provider, asked to cancel on the way out, does not answer. */
  abandonFails = 0;
  #create: 'none' | 'unanswered' | 'accepted' | 'closed' = 'closed';
  #lookAt = 0;
  #nativeStatus: string | null = null;
  #cancelTaken = false;
  readonly #taken = new Map<string, number>();

  constructor(job: FakeJob, shard: number, script: JobScript) {
    this.#job = job;
    this.#script = script;
    this.shard = shard;
  }

  nextStep(): ShardStep {
    if (!isShardOpen(this.state)) return { kind: 'settled', ...(this.rereadRequested && { reread: true }) };
    const next = this.#nextOfOpen();
    const isOnItsWay = next.kind === 'resolve' && next.lookAfterMs > 0;
    return this.givenUp && !isOnItsWay ? { kind: 'close', reason: 'given_up' } : next;
  }

  #nextOfOpen(): ShardStep {
    const { stopped, heldForMs } = this.#job;
    const isUnsent = this.#create === 'closed' || this.#create === 'none';
    if (stopped !== null && isUnsent) return { kind: 'close', reason: stopped };
    if (heldForMs > 0 && this.#create === 'closed') return { kind: 'held', delayMs: heldForMs };
    if (this.#create === 'closed') {
      this.attempt += 1;
      this.#create = 'none';
    }
    const step = { attempt: this.attempt, items: 10, provider: 'openai' } as const;
    if (this.#create === 'none') return { kind: 'submit', ...step };
    if (this.#create === 'accepted') return { kind: 'poll', ...step, nativeStatus: this.#nativeStatus };
    return { kind: 'resolve', ...step, lookAfterMs: Math.max(0, this.#lookAt - Date.now()) };
  }

  submit({ attempt }: AttemptRef): SubmitResult {
    if (attempt !== this.attempt) throw new Error(`attempt ${attempt} is not the last`);
    const { stopped } = this.#job;
    if (stopped !== null && this.#create === 'none') {
      this.#create = 'closed';
      return { kind: 'close', reason: stopped };
    }
    const result = this.#next('submit') ?? { kind: 'accepted' };
    if (result.kind === 'accepted') this.accept();
    if (result.kind === 'unknown') {
      this.state = 'creating';
      this.#create = 'unanswered';
      this.#lookAt = Date.now() + result.lookAfterMs;
    }
    if (result.kind === 'wait') this.state = 'waiting';
    if (result.kind === 'split') {
      this.state = 'superseded';
      this.#job.addHalves();
    }
    if (result.kind === 'close' || (result.kind === 'wait' && result.giveUp !== null)) this.#create = 'closed';
    return result;
  }

  /** The provider has the batch. */
  accept(): void {
    this.state = 'submitted';
    this.#create = 'accepted';
  }

  resolve(): ResolveResult {
    if (this.givenUp) return { kind: 'not_found' };
    if (this.chosen) {
      this.accept();
      return { kind: 'accepted' };
    }
    const result = this.#next('resolve') ?? { kind: 'accepted' };
    if (result.kind === 'accepted') this.accept();
    if (result.kind === 'not_found') this.#create = 'closed';
    if (result.kind === 'indeterminate') this.state = 'indeterminate';
    return result;
  }

  poll(): PollResult {
    if (this.givenUp) return this.#readRows();
    const scripted = this.#next('poll');
    const isOpen = scripted === undefined && this.#job.batchesOpen && !this.#cancelTaken;
    const end = this.#cancelTaken ? 'cancelled' : 'completed';
    const word = isOpen ? 'in_progress' : end;
    const result: PollResult = {
      kind: isOpen || scripted !== undefined ? 'open' : 'ended',
      nativeStatus: scripted === undefined ? word : 'in_progress',
      end: isOpen || scripted !== undefined ? null : end,
      changed: false,
      delayMs: this.#untilDeadline(this.#script.pollDelayMs ?? 5),
      cancelRequested: this.#job.stopped !== null,
      stopped: this.#job.stopped,
      ...scripted,
    };
    const changed = scripted?.changed ?? result.nativeStatus !== this.#nativeStatus;
    this.#nativeStatus = result.nativeStatus;
    this.state = result.kind === 'open' ? 'running' : 'ingesting';
    return { ...result, changed };
  }

  #readRows(): PollResult {
    const asBefore = { nativeStatus: 'in_progress', end: null, changed: false, cancelRequested: false };
    return { kind: 'open', readRows: true, delayMs: 1_000, ...asBefore };
  }

  cancel(): { accepted: boolean } {
    const accepted = this.#next('cancel') ?? true;
    this.#cancelTaken ||= accepted;
    return { accepted };
  }

  ingest(): IngestResult {
    const cut = this.#job.stopped === 'deadline' ? 'deadline' : 'batch_cancelled';
    const reason = this.#cancelTaken ? cut : 'batch_completed';
    const result = this.#next('ingest') ?? { settled: 10, remaining: 0, unmatched: 0, next: 'close', reason };
    if (result.next === 'resubmit') {
      this.#create = 'closed';
      this.state = 'waiting';
    }
    return result;
  }

  abandon(): { asked: boolean } {
    if (this.abandonFails === 0) return { asked: true };
    this.abandonFails -= 1;
    throw new Error('the provider is away');
  }

  reread(): { late: number } {
    this.rereadRequested = false;
    return { late: 1 };
  }

  close(reason: CloseReason): { closed: number } {
    this.state = 'settled';
    this.closed ??= reason;
    return { closed: 0 };
  }

  #untilDeadline(delayMs: number): number {
    const { deadlineMs, stopped } = this.#job;
    return deadlineMs === null || stopped !== null ? delayMs : Math.min(delayMs, deadlineMs - Date.now() + 5);
  }

  #next<Name extends 'submit' | 'resolve' | 'poll' | 'ingest' | 'cancel'>(
    name: Name,
  ): NonNullable<JobScript[Name]>[number] | undefined {
    const index = this.#taken.get(name) ?? 0;
    this.#taken.set(name, index + 1);
    return this.#script[name]?.[index];
  }
}
