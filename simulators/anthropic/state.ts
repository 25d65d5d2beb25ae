import { createState as createStateOf, type State as StateOf, StoredFile } from '../state.ts';
import { BatchRecord } from './records.ts';

/** Batches, and for each a file of its requests while it runs and one of its results afterwards. */
export type State = StateOf<StoredFile, BatchRecord>;

/** Loads what an earlier run left in `folder`. */
export function createState(folder: string): State {
  return createStateOf(folder, { files: StoredFile, batches: BatchRecord });
}
