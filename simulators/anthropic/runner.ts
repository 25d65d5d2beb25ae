import type { Background } from '../background.ts';
import { isTerminal } from '../batch-record.ts';
import { type Runner as BatchRunner, createRunner as createBatchRunner } from '../batch-runner.ts';
import type { Clock } from '../clock.ts';
import type { EndState } from '../fault-actions.ts';
import type { BatchWork } from './batch-work.ts';
import type { BatchRecord } from './records.ts';
import type { AnthropicSettings } from './settings.ts';
import type { State } from './state.ts';

export type Runner = BatchRunner<BatchRecord>;

/**
 * Runs batches as Anthropic does: nothing is validated first, and how a batch ends shows in its items alone (Anthropic
 * Message Batches docs).
 */
export function createRunner(parts: {
  state: State;
  clock: Clock;
  work: BatchWork;
  background: Background;
  settings: () => AnthropicSettings;
}): Runner {
  const { state, clock, work, background, settings } = parts;
  return createBatchRunner({
    ...work,
    clock,
    background,
    pace() {
      const { inProgressMs, endingMs: finalizingMs, cancelingMs: cancellingMs, itemsPerSecond } = settings();
      return { validatingMs: 0, inProgressMs, finalizingMs, cancellingMs, itemsPerSecond };
    },
    save: state.saveBatch,
    admit: () => true,
    entered(batch, at, { draft }) {
      if (isTerminal(batch.status) && draft !== undefined) {
        const { file, ...tally } = draft;
        if (file !== null) {
          state.saveFile({ ...file, seq: state.nextSeq(), createdAt: at, expiresAt: batch.archivesAt });
        }
        batch.result = { ...tally, fileId: file?.id ?? null };
      }
      state.saveBatch(batch);
    },
    ended(batch) {
      const input = state.findFile(batch.inputFileId, clock.now());
      if (input !== undefined) state.deleteFile(input);
    },
  });
}

/** A batch cannot fail as a whole: it ends like any other, with the items it did not finish errored. */
export function ownEndState(end: EndState): EndState;
export function ownEndState(end: EndState | undefined): EndState | undefined;
export function ownEndState(end: EndState | undefined): EndState | undefined {
  if (end?.status !== 'failed') return end;
  return { ...end, status: 'completed', finished: end.finished ?? 0 };
}
