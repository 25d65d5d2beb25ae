import type { Background } from './background.ts';
import type { Validated } from './batch-progress.ts';
import {
  cancelStep,
  countsBy,
  finishedBy,
  forcedStep,
  nextStep,
  type Pace,
  type Step,
  type Work,
} from './batch-progress.ts';
import { type Ending, isTerminal, type RunnableBatch, type Tally } from './batch-record.ts';
import type { Clock } from './clock.ts';
import type { EndState } from './fault-actions.ts';

/** Moves batches through their states as the clock goes on. */
export interface Runner<Batch extends RunnableBatch> {
  /** Takes up a new batch, or one an earlier run left unfinished; resolves once its input was read. */
  take(batch: Batch): Promise<void>;
  /** Brings every batch up to the clock; call it before any batch is shown. */
  settle(): void;
  cancel(batch: Batch): void;
  /** Ends a batch at once, past its pace. */
  force(batch: Batch, end: EndState): void;
  counts(batch: Batch): Tally;
  /** Lets go of all batches and waits for the work under way. */
  stop(): Promise<void>;
}

interface Timed {
  /** Real time, waiting included. */
  tookMs: number;
}

/** What is a provider's own in how its batches run; `Draft` is result files not yet known to its API. */
export interface BatchCourse<Batch extends RunnableBatch, Input extends Validated, Draft> {
  pace(): Pace;
  validate(batch: Batch): Promise<Input & Timed>;
  write(batch: Batch, ending: Ending): Promise<Draft & Timed>;
  discard(draft: Draft): Promise<void>;
  /** Lets a batch whose input is good into progress, beside the others that run; false fails it. */
  admit(batch: Batch, input: Input, others: readonly Batch[]): boolean;
  /** Sets what a state that was just entered brings with it, then saves the batch. */
  entered(batch: Batch, at: number, known: { input: Input | undefined; draft: Draft | undefined }): void;
  save(batch: Batch): void;
  ended(batch: Batch): void;
}

interface Running<Batch, Input extends Validated, Draft> {
  batch: Batch;
  work: Work<Input>;
  draft?: Draft;
}

export function createRunner<Batch extends RunnableBatch, Input extends Validated, Draft>(
  parts: BatchCourse<Batch, Input, Draft> & { clock: Clock; background: Background },
): Runner<Batch> {
  const { clock, background } = parts;
  const running = new Map<string, Running<Batch, Input, Draft>>();
  let disarm: () => void = () => undefined;

  const settle = () => {
    disarm();
    for (;;) {
      const due = earliest(running, parts.pace());
      if (due === undefined) return;
      if (due.step.at > clock.now()) {
        disarm = clock.at(due.step.at, settle);
        return;
      }
      apply(due.entry, due.step);
    }
  };

  const isAdmitted = ({ batch, work }: Running<Batch, Input, Draft>) => {
    const others = [...running.values()].map((other) => other.batch).filter((other) => other !== batch);
    return work.validated === undefined || parts.admit(batch, work.validated, others);
  };
  const apply = (entry: Running<Batch, Input, Draft>, step: Step) => {
    const { batch, work, draft } = entry;
    const to = step.to === 'in_progress' && !isAdmitted(entry) ? 'failed' : step.to;
    batch.status = to;
    batch.enteredAt[to] = step.at;
    if (step.ending !== undefined) {
      batch.ending = step.ending;
      work.resultsTookMs = undefined;
    }
    parts.entered(batch, step.at, { input: work.validated, draft });
    if (step.ending !== undefined) void write(entry);
    if (!isTerminal(to)) return;
    running.delete(batch.id);
    parts.ended(batch);
  };

  const validate = (entry: Running<Batch, Input, Draft>) =>
    background.run(`validation of ${entry.batch.id}`, async () => {
      entry.work.validated = await parts.validate(entry.batch);
      settle();
    });
  const write = (entry: Running<Batch, Input, Draft>) =>
    background.run(`results of ${entry.batch.id}`, async () => {
      const { ending } = entry.batch;
      if (ending === undefined) return;
      const draft = await parts.write(entry.batch, ending);
      // A cancel may have changed the ending meanwhile, or a reset may have forgotten the batch.
      const isStale = entry.batch.ending !== ending || running.get(entry.batch.id) !== entry;
      if (isStale) return parts.discard(draft);
      entry.draft = draft;
      entry.work.resultsTookMs = draft.tookMs;
      settle();
    });

  return {
    settle,
    take(batch) {
      const entry: Running<Batch, Input, Draft> = { batch, work: {} };
      running.set(batch.id, entry);
      if (batch.ending !== undefined) void write(entry);
      return validate(entry);
    },
    cancel(batch) {
      const entry = running.get(batch.id);
      if (entry === undefined || batch.status === 'cancelling') return;
      apply(entry, cancelStep(batch, entry.work, parts.pace(), clock.now()));
      settle();
    },
    force(batch, end) {
      const entry = running.get(batch.id);
      if (entry === undefined) return;
      const now = clock.now();
      const finished =
        end.finished ?? (end.status === 'completed' ? undefined : finishedBy(batch, entry.work, parts.pace(), now));
      batch.script = { list_lag_ms: batch.script.list_lag_ms, end_state: { ...end, finished } };
      batch.forcedAt = now;
      parts.save(batch);
      if (batch.ending !== undefined) apply(entry, forcedStep(batch, entry.work, now));
      settle();
    },
    counts(batch) {
      const entry = running.get(batch.id);
      if (entry === undefined) return batch.result ?? { total: batch.total, completed: 0, failed: 0 };
      const now = clock.now();
      entry.work.shown = finishedBy(batch, entry.work, parts.pace(), now);
      return countsBy(batch, entry.work, parts.pace(), now);
    },
    async stop() {
      disarm();
      running.clear();
      await background.idle();
    },
  };
}

function earliest<Batch extends RunnableBatch, Input extends Validated, Draft>(
  running: ReadonlyMap<string, Running<Batch, Input, Draft>>,
  pace: Pace,
) {
  let first: { entry: Running<Batch, Input, Draft>; step: Step } | undefined;
  for (const entry of running.values()) {
    const step = nextStep(entry.batch, entry.work, pace);
    if (step !== undefined && (first === undefined || step.at < first.step.at)) first = { entry, step };
  }
  return first;
}
