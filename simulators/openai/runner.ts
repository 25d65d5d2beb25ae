import type { Background } from '../background.ts';
import type { Clock } from '../clock.ts';
import type { EndState } from '../fault-actions.ts';
import type { BatchWork, DraftResults } from './batch-work.ts';
import { tokenLimitError } from './enqueued-tokens.ts';
import { cancelStep, countsBy, finishedBy, forcedStep, nextStep, type Step, type Work } from './progress.ts';
import { publishResults } from './publish.ts';
import { type BatchError, type BatchRecord, isTerminal } from './records.ts';
import type { OpenAiSettings } from './settings.ts';
import type { State } from './state.ts';

/** Moves batches through their states as the clock goes on. */
export interface Runner {
  /** Takes up a new batch, or one an earlier run left unfinished; resolves once its input was read. */
  take(batch: BatchRecord): Promise<void>;
  /** Brings every batch up to the clock; call it before any batch is shown. */
  settle(): void;
  cancel(batch: BatchRecord): void;
  /** Ends a batch at once, past its pace. */
  force(batch: BatchRecord, end: EndState): void;
  counts(batch: BatchRecord): { total: number; completed: number; failed: number };
  /** Lets go of all batches and waits for the work under way. */
  stop(): Promise<void>;
}

interface Running {
  batch: BatchRecord;
  work: Work;
  draft?: DraftResults;
}

interface Parts {
  state: State;
  clock: Clock;
  work: BatchWork;
  background: Background;
  settings: () => OpenAiSettings;
  onEnd: (batch: BatchRecord) => void;
}

export function createRunner(parts: Parts): Runner {
  const { clock, settings, background } = parts;
  const running = new Map<string, Running>();
  let disarm: () => void = () => undefined;

  const settle = () => {
    disarm();
    for (;;) {
      const due = earliest(running, settings());
      if (due === undefined) return;
      if (due.step.at > clock.now()) {
        disarm = clock.at(due.step.at, settle);
        return;
      }
      apply(due.entry, due.step);
    }
  };

  const apply = (entry: Running, step: Step) => {
    const final = step.to === 'in_progress' ? admitted(entry, step, running, settings()) : step;
    enter(entry, final, parts);
    if (final.ending !== undefined) void write(entry);
    if (!isTerminal(final.to)) return;
    running.delete(entry.batch.id);
    parts.state.dropUnneeded(entry.batch.inputFileId);
    parts.onEnd(entry.batch);
  };

  const validate = (entry: Running) =>
    background.run(`validation of ${entry.batch.id}`, async () => {
      entry.work.validated = await parts.work.validate(entry.batch);
      settle();
    });
  const write = (entry: Running) =>
    background.run(`results of ${entry.batch.id}`, async () => {
      const { ending } = entry.batch;
      if (ending === undefined) return;
      const draft = await parts.work.write(entry.batch, ending);
      // A cancel may have changed the ending meanwhile, or a reset may have forgotten the batch.
      const isStale = entry.batch.ending !== ending || running.get(entry.batch.id) !== entry;
      if (isStale) return parts.work.discard(draft);
      entry.draft = draft;
      entry.work.resultsTookMs = draft.tookMs;
      settle();
    });

  return {
    settle,
    take(batch) {
      const entry: Running = { batch, work: {} };
      running.set(batch.id, entry);
      if (batch.ending !== undefined) void write(entry);
      return validate(entry);
    },
    cancel(batch) {
      const entry = running.get(batch.id);
      if (entry === undefined || batch.status === 'cancelling') return;
      apply(entry, cancelStep(batch, entry.work, settings(), clock.now()));
      settle();
    },
    force(batch, end) {
      const entry = running.get(batch.id);
      if (entry === undefined) return;
      const now = clock.now();
      const finished =
        end.finished ?? (end.status === 'completed' ? undefined : finishedBy(batch, entry.work, settings(), now));
      batch.script = { list_lag_ms: batch.script.list_lag_ms, end_state: { ...end, finished } };
      batch.forcedAt = now;
      parts.state.saveBatch(batch);
      if (batch.ending !== undefined) apply(entry, forcedStep(batch, entry.work, now));
      settle();
    },
    counts(batch) {
      const entry = running.get(batch.id);
      if (entry === undefined) return batch.result ?? { total: batch.total, completed: 0, failed: 0 };
      const now = clock.now();
      entry.work.shown = finishedBy(batch, entry.work, settings(), now);
      return countsBy(batch, entry.work, settings(), now);
    },
    async stop() {
      disarm();
      running.clear();
      await background.idle();
    },
  };
}

/** Writes the new state down, with what belongs to it. */
function enter({ batch, work, draft }: Running, step: Step, { state, settings }: Parts): void {
  batch.status = step.to;
  batch.enteredAt[step.to] = step.at;
  if (step.ending !== undefined) {
    batch.ending = step.ending;
    work.resultsTookMs = undefined;
  }
  if (step.to === 'failed' && batch.errors.length === 0) {
    batch.errors = scriptedErrors(batch) ?? work.validated?.errors ?? [];
  }
  if (isTerminal(step.to) && draft !== undefined) {
    batch.result = publishResults(state, batch, draft, step.at, settings().fileLifeMs);
  }
  state.saveBatch(batch);
}

/** The step into `in_progress`, or into `failed` when the model's queue is full. */
function admitted(
  { batch, work }: Running,
  step: Step,
  running: ReadonlyMap<string, Running>,
  settings: OpenAiSettings,
): Step {
  if (work.validated === undefined) return step;
  const { model, total, tokens } = work.validated;
  const others = [...running.values()].map((other) => other.batch).filter((other) => other !== batch);
  const refused = tokenLimitError({ model, tokens }, others, settings);
  if (refused === undefined) {
    Object.assign(batch, { model, total, tokens });
    return step;
  }
  batch.errors = [refused];
  return { at: step.at, to: 'failed' };
}

function earliest(running: ReadonlyMap<string, Running>, settings: OpenAiSettings) {
  let first: { entry: Running; step: Step } | undefined;
  for (const entry of running.values()) {
    const step = nextStep(entry.batch, entry.work, settings);
    if (step !== undefined && (first === undefined || step.at < first.step.at)) first = { entry, step };
  }
  return first;
}

function scriptedErrors(batch: BatchRecord): BatchError[] | undefined {
  return batch.script.end_state?.errors?.map(({ code, message = code, param = null, line = null }) => ({
    code,
    message,
    param,
    line,
  }));
}
