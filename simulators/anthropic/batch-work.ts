import { rm } from 'node:fs/promises';
import { performance } from 'node:perf_hooks';
import type { Validated } from '../batch-progress.ts';
import type { Ending } from '../batch-record.ts';
import type { Faults } from '../faults.ts';
import { newId } from '../state.ts';
import { createWorkQueue } from '../work-queue.ts';
import type { BatchRecord, Result } from './records.ts';
import { writeResults } from './results.ts';
import type { AnthropicSettings } from './settings.ts';
import type { State } from './state.ts';

/** Results written but not yet known to the API; no file when a fault withholds it. */
export interface DraftResults extends Omit<Result, 'fileId'> {
  file: { id: string; bytes: number } | null;
}

/** The writing a batch needs, a few at a time; `tookMs` is real time, waiting included. */
export interface BatchWork {
  validate(batch: BatchRecord): Promise<Validated & { tookMs: number }>;
  write(batch: BatchRecord, ending: Ending): Promise<DraftResults & { tookMs: number }>;
  discard(draft: DraftResults): Promise<void>;
}

const AT_A_TIME = 2;
/** The API tells nothing of items before the end, so nobody asks how each will fare. */
const UNTOLD = new Uint8Array();

export function createBatchWork(parts: { state: State; faults: Faults; settings: () => AnthropicSettings }): BatchWork {
  const { state, faults, settings } = parts;
  const enqueue = createWorkQueue(AT_A_TIME);

  const timed = async <T extends object>(work: () => Promise<T>) => {
    const startedMs = performance.now();
    const result = await enqueue(work);
    return { ...result, tookMs: performance.now() - startedMs };
  };
  const discard = async ({ file }: Pick<DraftResults, 'file'>) => {
    if (file !== null) await rm(state.pathOf(file.id), { force: true });
  };

  const write = async (batch: BatchRecord, ending: Ending): Promise<DraftResults> => {
    const { script } = batch;
    const action = faults.take('anthropic', 'batch:results', {
      batch_id: batch.id,
      items: batch.total,
      status: ending.status,
    });
    const id = newId('results_');
    const job = {
      batch,
      ending: { ...ending, listsUnfinished: script.end_state?.list_unfinished ?? true },
      errors: script.end_state?.errors,
      inputPath: state.pathOf(batch.inputFileId),
      outputPath: state.pathOf(id),
      seed: settings().seed + batch.seq,
      action,
    };
    const { bytes, ...tally } = await writeResults(job, state.attempts);
    const file = { id, bytes };
    if (!action.no_output_file) return { ...tally, file };
    await discard({ file });
    return { ...tally, file: null };
  };

  return {
    discard,
    write: (batch, ending) => timed(() => write(batch, ending)),
    validate: async ({ ends }) => ({ errors: [], fates: UNTOLD, ends, tookMs: 0 }),
  };
}
