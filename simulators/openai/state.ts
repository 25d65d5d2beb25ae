import { createState as createStateOf, type State as StateOf } from '../state.ts';
import { BatchRecord, FileRecord } from './records.ts';

export type State = StateOf<FileRecord, BatchRecord>;

/** Loads what an earlier run left in `folder`. */
export function createState(folder: string): State {
  return createStateOf(folder, { files: FileRecord, batches: BatchRecord });
}
