import { type BatchStatus, type Ending, isTerminal, type RunnableBatch } from './batch-record.ts';
import { tallyFates } from './fates.ts';

/** How long each state lasts; milliseconds of the simulators' clock. */
export interface Pace {
  validatingMs: number;
  inProgressMs: number;
  finalizingMs: number;
  cancellingMs: number;
  /** When set, progress takes as long as the items do at this rate, instead of `inProgressMs`. */
  itemsPerSecond: number | null;
  /** Whether items that never finish keep their batch running until it expires, instead of expiring it with the others. */
  waitsForExpiry?: boolean;
}

/** What reading a batch's input has shown. */
export interface Validated {
  /** Empty when the batch may run. */
  errors: readonly unknown[];
  /** How each item will end, in input order, as an index into `FATES`. */
  fates: Uint8Array;
  /** How many items end by themselves; the others hang until the batch expires. */
  ends: number;
}

/** What the simulator has really done for a batch so far; `tookMs` is real time. */
export interface Work<Input extends Validated = Validated> {
  validated?: Input & { tookMs: number };
  resultsTookMs?: number | undefined;
  /** Most items ever shown as finished, so that a change of pace never takes one back. */
  shown?: number;
}

export interface Step {
  /** When the state is entered, by the simulators' clock. */
  at: number;
  to: BatchStatus;
  /** Given when the batch begins to end. */
  ending?: Ending;
}

/**
 * The next state of a batch and when it comes: validating → in_progress → finalizing → completed, with failed, expired
 * and cancelled where they branch off. Undefined when it has ended, when it is stuck, or while
 * the work the step needs is not done. Times depend on the clock and the pace alone, plus real work that took longer.
 */
export function nextStep(batch: RunnableBatch, work: Work, pace: Pace): Step | undefined {
  if (isTerminal(batch.status)) return undefined;
  const regular = onceFree(batch, regularStep(batch, work, pace));
  const expiry = expiryStep(batch, work, pace);
  if (regular === undefined || expiry === undefined) return regular ?? expiry;
  return expiry.at < regular.at ? expiry : regular;
}

/** How many items have finished by a time, counted over those that ever end. */
export function finishedBy(batch: RunnableBatch, work: Work, pace: Pace, time: number): number {
  const since = batch.enteredAt.in_progress;
  if (since === undefined || work.validated === undefined) return 0;
  const most = Math.min(
    work.validated.ends,
    batch.script.end_state?.finished ?? Number.POSITIVE_INFINITY,
    batch.script.stuck?.finished ?? Number.POSITIVE_INFINITY,
    batch.ending?.finished ?? Number.POSITIVE_INFINITY,
  );
  const duration = progressMs(batch, pace);
  const share = duration === 0 ? 1 : Math.min(Math.max((time - since) / duration, 0), 1);
  return Math.min(Math.max(Math.floor(batch.total * share), work.shown ?? 0), most);
}

/** Counts while a batch runs. */
export function countsBy(batch: RunnableBatch, work: Work, pace: Pace, time: number) {
  const finished = batch.status === 'finalizing' ? batch.ending?.finished : finishedBy(batch, work, pace, time);
  const fates = work.validated?.fates ?? new Uint8Array();
  return { total: batch.total, ...tallyFates(fates, finished ?? 0) };
}

/** The beginning of a cancel; items go on finishing until it is through. A scripted end stays what it is. */
export function cancelStep(batch: RunnableBatch, work: Work, pace: Pace, at: number): Step {
  if (batch.script.end_state !== undefined) return { ...forcedStep(batch, work, at), to: 'cancelling' };
  const finished = batch.ending?.finished ?? finishedBy(batch, work, pace, at + pace.cancellingMs);
  return { at, to: 'cancelling', ending: { status: 'cancelled', finished, listsUnfinished: true } };
}

/** The end a fault asks for, begun at a time. */
export function forcedStep(batch: RunnableBatch, work: Work, at: number): Step {
  const { status = 'completed', finished, list_unfinished: lists } = batch.script.end_state ?? {};
  const ends = work.validated?.ends ?? 0;
  const ending: Ending = {
    status,
    finished: Math.min(finished ?? (status === 'failed' ? 0 : ends), ends),
    listsUnfinished: lists ?? (status === 'expired' || status === 'cancelled'),
  };
  return { at, to: status === 'cancelled' ? 'cancelling' : 'finalizing', ending };
}

function regularStep(batch: RunnableBatch, work: Work, pace: Pace): Step | undefined {
  const since = batch.enteredAt[batch.status] ?? batch.createdAt;
  if (batch.status === 'validating') {
    const { validated } = work;
    if (validated === undefined) return undefined;
    const { end_state: end } = batch.script;
    const isBad = validated.errors.length > 0 || (end?.status === 'failed' && !end.finished);
    const at = batch.forcedAt ?? since + Math.max(pace.validatingMs, validated.tookMs);
    return { at, to: isBad ? 'failed' : 'in_progress' };
  }
  if (batch.status === 'in_progress') {
    return endOfProgress(batch, work, pace, batch.forcedAt ?? since + progressMs(batch, pace));
  }
  const { ending } = batch;
  if (ending === undefined || work.resultsTookMs === undefined) return undefined;
  const paceMs = batch.status === 'cancelling' ? pace.cancellingMs : pace.finalizingMs;
  return { at: since + Math.max(paceMs, work.resultsTookMs), to: ending.status };
}

function endOfProgress(batch: RunnableBatch, work: Work, pace: Pace, at: number): Step | undefined {
  if (work.validated === undefined) return undefined;
  if (batch.script.end_state !== undefined) return forcedStep(batch, work, at);
  const finished = work.validated.ends;
  if (finished < batch.total && pace.waitsForExpiry) return undefined;
  const ending: Ending =
    finished < batch.total
      ? { status: 'expired', finished, listsUnfinished: true }
      : { status: 'completed', finished, listsUnfinished: false };
  return { at, to: 'finalizing', ending };
}

/** A running batch expires when its window closes; its files are written on the way. */
function expiryStep(batch: RunnableBatch, work: Work, pace: Pace): Step | undefined {
  const { stuck } = batch.script;
  const isEnding = batch.status === 'cancelling' || batch.ending?.status === 'expired';
  // While real work is under way nobody can tell yet which of the two comes first.
  const isWorking = work.validated === undefined || (batch.status === 'finalizing' && work.resultsTookMs === undefined);
  if (isEnding || isWorking || (stuck?.past_expiry && stuck.state === batch.status)) return undefined;
  const at = batch.expiresAt;
  const finished = batch.ending?.finished ?? finishedBy(batch, work, pace, at);
  return { at, to: 'finalizing', ending: { status: 'expired', finished, listsUnfinished: true } };
}

/** Holds a step back for as long as the batch is stuck in its state. */
function onceFree(batch: RunnableBatch, step: Step | undefined): Step | undefined {
  const { stuck } = batch.script;
  if (step === undefined || stuck?.state !== batch.status) return step;
  const since = batch.enteredAt[batch.status] ?? batch.createdAt;
  if (since >= batch.expiresAt && !stuck.past_expiry) return step;
  if (stuck.for_ms === undefined) return undefined;
  const freeAt = since + stuck.for_ms;
  return { ...step, at: Math.max(step.at, freeAt) };
}

function progressMs(batch: RunnableBatch, pace: Pace): number {
  return pace.itemsPerSecond === null ? pace.inProgressMs : (batch.total / pace.itemsPerSecond) * 1_000;
}
