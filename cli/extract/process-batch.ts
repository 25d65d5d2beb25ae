import { isDeepStrictEqual } from 'node:util';
import type { DocumentBatch } from '../../contracts/document.ts';
import { readDocumentColumns } from '../../contracts/document-columns.ts';
import type { ProcessBatch } from '../../contracts/process-batch.ts';
import type { Context } from '../command.ts';
import { CommandError } from '../errors.ts';
import type { TenantCalls } from '../gateway.ts';
import { INTERRUPTED, whenThereIsRoom } from './patience.ts';

interface Processing {
  readonly calls: Pick<TenantCalls, 'getBatch' | 'processBatch'>;
  readonly batchName: string;
  readonly signal: AbortSignal;
}

/** Looks a minute at its quickest, then twelve: half of what a key may, and a tenth. */
const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 5_000;
const GROWTH = 1.3;
/** A gateway that is restarted comes back before that. */
const PATIENCE_MS = 5 * 60_000;

/**
 * Starts runs until every document that is queued is in one. Returns how many documents were taken; none where all of them are in
 * a run already, or have ended. Throws what the gateway refuses, and INTERRUPTED.
 */
export async function startRuns(
  { calls, batchName, signal }: Processing,
  wish: ProcessBatch,
  context: Pick<Context, 'sleep'>,
): Promise<number> {
  for (let taken = 0, asked = wish; ; ) {
    try {
      const json = asked;
      const { documents } = await whenThereIsRoom(() => calls.processBatch(batchName, json), signal, context);
      taken += documents;
      // A run takes so many at most; what failed meanwhile is not of this call.
      const { include: _, ...again } = wish;
      asked = again;
    } catch (error) {
      if (error instanceof CommandError && error.facts.error === 'nothing_to_process') return taken;
      throw error;
    }
  }
}

/**
 * Whether documents that had been in runs before, and were not taken up again, have other rows than were asked for. `before` is
 * the batch as it was when its runs were to be started, of which `taken` documents were.
 */
export function keepsOtherRows({ columns, model, counts }: DocumentBatch, taken: number, wish: ProcessBatch): boolean {
  const isOther =
    (wish.columns !== undefined &&
      columns !== null &&
      !isDeepStrictEqual(readDocumentColumns(wish.columns), columns)) ||
    (wish.model !== undefined && model !== null && wish.model !== model);
  return isOther && (counts.succeeded + counts.processing > 0 || taken < counts.queued);
}

/** Looks at a batch until all of its documents have ended. Throws INTERRUPTED where the person leaves before that. */
export async function waitForBatch(
  { calls, batchName, signal }: Processing,
  show: (batch: DocumentBatch, isOutOfReach: boolean) => void,
  context: Pick<Context, 'sleep' | 'nowMs'>,
): Promise<DocumentBatch> {
  let last: DocumentBatch | undefined;
  let answeredMs = context.nowMs();
  for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(delayMs * GROWTH, MAX_DELAY_MS)) {
    try {
      last = await whenThereIsRoom(() => calls.getBatch(batchName), signal, context);
      answeredMs = context.nowMs();
      show(last, false);
      if (last.all_done) return last;
    } catch (error) {
      const isAway = error instanceof CommandError && error.exit === 'unreachable';
      if (last === undefined || !isAway || context.nowMs() - answeredMs > PATIENCE_MS) throw error;
      show(last, true);
    }
    await context.sleep(delayMs, signal);
    if (signal.aborted) throw INTERRUPTED;
  }
}
