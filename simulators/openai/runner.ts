import type { Background } from '../background.ts';
import { isTerminal } from '../batch-record.ts';
import { type Runner as BatchRunner, createRunner as createBatchRunner } from '../batch-runner.ts';
import type { Clock } from '../clock.ts';
import type { BatchWork } from './batch-work.ts';
import { tokenLimitError } from './enqueued-tokens.ts';
import { publishResults } from './publish.ts';
import type { BatchError, BatchRecord } from './records.ts';
import type { OpenAiSettings } from './settings.ts';
import type { State } from './state.ts';

export type Runner = BatchRunner<BatchRecord>;

interface Parts {
  state: State;
  clock: Clock;
  work: BatchWork;
  background: Background;
  settings: () => OpenAiSettings;
  onEnd: (batch: BatchRecord) => void;
}

/** Runs batches as OpenAI does: the queue of a model is checked when its batch would start. */
export function createRunner({ state, clock, work, background, settings, onEnd }: Parts): Runner {
  return createBatchRunner({
    ...work,
    clock,
    background,
    pace: settings,
    save: state.saveBatch,
    admit(batch, { model, total, tokens }, others) {
      const refused = tokenLimitError({ model, tokens }, others, settings());
      if (refused === undefined) Object.assign(batch, { model, total, tokens });
      else batch.errors = [refused];
      return refused === undefined;
    },
    entered(batch, at, { input, draft }) {
      if (batch.status === 'failed' && batch.errors.length === 0) {
        batch.errors = scriptedErrors(batch) ?? input?.errors ?? [];
      }
      if (isTerminal(batch.status) && draft !== undefined) {
        batch.result = publishResults(state, batch, draft, at, settings().fileLifeMs);
      }
      state.saveBatch(batch);
    },
    ended(batch) {
      state.dropUnneeded(batch.inputFileId);
      onEnd(batch);
    },
  });
}

function scriptedErrors(batch: BatchRecord): BatchError[] | undefined {
  return batch.script.end_state?.errors?.map(({ code, message = code, param = null, line = null }) => ({
    code,
    message,
    param,
    line,
  }));
}
