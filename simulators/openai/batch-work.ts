import { rm } from 'node:fs/promises';
import { performance } from 'node:perf_hooks';
import type { Ending } from '../batch-record.ts';
import type { Faults } from '../faults.ts';
import type { ResultFileName } from '../line-faults.ts';
import { newId } from '../state.ts';
import { createWorkQueue } from '../work-queue.ts';
import { ENDPOINTS, type Endpoint } from './prompt.ts';
import type { BatchRecord } from './records.ts';
import { type WrittenResults, writeResults } from './results.ts';
import type { OpenAiSettings } from './settings.ts';
import type { State } from './state.ts';
import { type Validated, validateInput } from './validation.ts';

/** Result files written but not yet known to the API. */
export interface DraftResults extends WrittenResults {
  fileIds: Record<ResultFileName, string>;
}

/** The reading and writing a batch needs, a few at a time; `tookMs` is real time, waiting included. */
export interface BatchWork {
  validate(batch: BatchRecord): Promise<Validated & { tookMs: number }>;
  write(batch: BatchRecord, ending: Ending): Promise<DraftResults & { tookMs: number }>;
  discard(draft: DraftResults): Promise<void>;
}

const AT_A_TIME = 2;

export function createBatchWork(parts: { state: State; faults: Faults; settings: () => OpenAiSettings }): BatchWork {
  const { state, faults, settings } = parts;
  const enqueue = createWorkQueue(AT_A_TIME);

  const timed = async <T extends object>(work: () => Promise<T>) => {
    const startedMs = performance.now();
    const result = await enqueue(work);
    return { ...result, tookMs: performance.now() - startedMs };
  };

  const withhold = async (draft: DraftResults, file: ResultFileName) => {
    await rm(state.pathOf(draft.fileIds[file]), { force: true });
    draft.bytes[file] = 0;
  };

  return {
    validate: (batch) =>
      timed(() => {
        const target = { id: batch.id, endpoint: endpointOf(batch) };
        return validateInput(state.pathOf(batch.inputFileId), target, settings(), state.attempts);
      }),
    write: (batch, ending) =>
      timed(async () => {
        const { seed, embeddingDimensions } = settings();
        const { id: batchId, inputFileId, metadata, endpoint } = batch;
        const facts = { batch_id: batchId, input_file_id: inputFileId, metadata, endpoint, status: ending.status };
        const action = faults.take('openai', 'batch:results', facts);
        const fileIds = { output: newId('file-'), error: newId('file-') };
        const written = await writeResults(
          {
            batchId,
            endpoint: endpointOf(batch),
            ending,
            inputPath: state.pathOf(inputFileId),
            paths: { output: state.pathOf(fileIds.output), error: state.pathOf(fileIds.error) },
            seed: seed + batch.seq,
            now: batch.enteredAt.in_progress ?? batch.createdAt,
            embeddingDimensions,
            action,
          },
          state.attempts,
        );
        const draft = { ...written, fileIds };
        if (action.no_output_file) await withhold(draft, 'output');
        if (action.no_error_file) await withhold(draft, 'error');
        return draft;
      }),
    async discard(draft) {
      await withhold(draft, 'output');
      await withhold(draft, 'error');
    },
  };
}

function endpointOf(batch: BatchRecord): Endpoint {
  const found = ENDPOINTS.find((endpoint) => endpoint === batch.endpoint);
  if (found === undefined) throw new Error(`batch ${batch.id} has the endpoint ${batch.endpoint}`);
  return found;
}
