import type { ResultFileName } from '../line-faults.ts';
import type { DraftResults } from './batch-work.ts';
import type { BatchRecord, Result } from './records.ts';
import type { State } from './state.ts';

/** Makes written result files known to the API; a file without lines does not exist. */
export function publishResults(
  state: State,
  batch: BatchRecord,
  draft: DraftResults,
  at: number,
  fileLifeMs: number,
): Result {
  const publish = (file: ResultFileName) => {
    const id = draft.fileIds[file];
    if (draft.bytes[file] === 0) return null;
    state.saveFile({
      id,
      seq: state.nextSeq(),
      bytes: draft.bytes[file],
      createdAt: at,
      expiresAt: at + (batch.outputLifeMs ?? fileLifeMs),
      filename: `${batch.id}_${file}.jsonl`,
      purpose: 'batch_output',
      madeBy: { batchId: batch.id, file },
    });
    return id;
  };
  const { completed, failed, total, usage } = draft;
  return { completed, failed, total, usage, outputFileId: publish('output'), errorFileId: publish('error') };
}
