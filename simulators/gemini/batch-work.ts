import { rm } from 'node:fs/promises';
import { performance } from 'node:perf_hooks';
import type { Ending } from '../batch-record.ts';
import type { Faults } from '../faults.ts';
import { newId } from '../state.ts';
import { createWorkQueue } from '../work-queue.ts';
import type { BatchRecord, State } from './records.ts';
import { type WrittenResults, writeResults } from './results.ts';
import type { GeminiSettings } from './settings.ts';
import { type Input, type Validated, validateInput } from './validation.ts';

/** Results written but not yet known to the API. */
export interface DraftResults extends WrittenResults {
  fileId: string;
}

/** The reading and writing a batch needs, a few at a time; `tookMs` is real time, waiting included. */
export interface BatchWork {
  validate(batch: BatchRecord): Promise<Validated & { tookMs: number }>;
  write(batch: BatchRecord, ending: Ending): Promise<DraftResults & { tookMs: number }>;
  discard(draft: DraftResults): Promise<void>;
}

const AT_A_TIME = 2;

export function createBatchWork(parts: { state: State; faults: Faults; settings: () => GeminiSettings }): BatchWork {
  const { state, faults, settings } = parts;
  const enqueue = createWorkQueue(AT_A_TIME);

  const timed = async <T extends object>(work: () => Promise<T>) => {
    const startedMs = performance.now();
    const result = await enqueue(work);
    return { ...result, tookMs: performance.now() - startedMs };
  };
  const discard = async (draft: DraftResults) => {
    await rm(state.pathOf(draft.fileId), { force: true });
    draft.bytes = 0;
  };

  return {
    discard,
    validate: (batch) => timed(() => validateInput(inputOf(state, batch), batch.id, state.attempts)),
    write: (batch, ending) =>
      timed(async () => {
        const { seed, embeddingDimensions, shuffleInline } = settings();
        const action = faults.take('gemini', 'batch:results', { ...batchFacts(batch), status: ending.status });
        const fileId = newOutputId(batch);
        const written = await writeResults(
          {
            batchId: batch.id,
            input: inputOf(state, batch),
            ending,
            destination: batch.destination,
            outputPath: state.pathOf(fileId),
            seed: batch.destination === 'file' || shuffleInline ? seed + batch.seq : undefined,
            embeddingDimensions,
            action,
          },
          state.attempts,
        );
        const draft = { ...written, fileId };
        if (action.no_output_file) await discard(draft);
        return draft;
      }),
  };
}

function inputOf(state: State, { inputFileId, task, model, source }: BatchRecord): Input {
  return { path: state.pathOf(inputFileId), task, model, source };
}

/** What a fault on a batch can be matched by. */
export function batchFacts(batch: BatchRecord) {
  const { id, source, inputFileId, displayName, destination } = batch;
  return {
    batch_id: `batches/${id}`,
    input_file_id: source === 'file' ? `files/${inputFileId}` : undefined,
    display_name: displayName,
    model: batch.model,
    destination,
  };
}

// A batch may be written twice, when a cancel comes while it is, and the two drafts must not share a file.
function newOutputId({ id }: BatchRecord): string {
  return `batch-${id}${newId('').slice(0, 4)}`;
}
