import { BATCH_FAULTS, type FaultKey, HTTP_FAULTS, LINE_FAULTS, TRANSFER_FAULTS } from '../fault-actions.ts';

const BATCH_REPLY: readonly FaultKey[] = [...HTTP_FAULTS, 'counts', 'native_status'];
/** There is one file of results, so no line can go to another. */
const RESULT_LINES: readonly FaultKey[] = LINE_FAULTS.filter((key) => key !== 'move_lines');

/** Where faults may strike, and the keys that mean something there. */
export const ANTHROPIC_FAULT_ROUTES: Readonly<Record<string, readonly FaultKey[]>> = {
  'batches.create': [...BATCH_REPLY, ...BATCH_FAULTS],
  'batches.list': BATCH_REPLY,
  'batches.retrieve': [...BATCH_REPLY, 'results_url'],
  'batches.cancel': BATCH_REPLY,
  'batches.delete': HTTP_FAULTS,
  'batches.results': [...HTTP_FAULTS, ...RESULT_LINES, ...TRANSFER_FAULTS],
  'messages.create': HTTP_FAULTS,
  'models.list': HTTP_FAULTS,
  'batch:results': [...RESULT_LINES, 'no_output_file'],
};
