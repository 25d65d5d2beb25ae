import {
  BATCH_FAULTS,
  type FaultKey,
  HTTP_FAULTS,
  LINE_FAULTS,
  TRANSFER_FAULTS,
  WEBHOOK_FAULTS,
} from '../fault-actions.ts';

const BATCH_REPLY: readonly FaultKey[] = [...HTTP_FAULTS, 'counts', 'native_status'];
// There is one result file, so no other to move a line to.
const LINES: readonly FaultKey[] = LINE_FAULTS.filter((key) => key !== 'move_lines');

/** Where faults may strike, and the keys that mean something there. */
export const GEMINI_FAULT_ROUTES: Readonly<Record<string, readonly FaultKey[]>> = {
  'files.upload.start': HTTP_FAULTS,
  'files.upload.chunk': [...HTTP_FAULTS, 'cut'],
  'files.get': HTTP_FAULTS,
  'files.list': HTTP_FAULTS,
  'files.delete': HTTP_FAULTS,
  'files.download': [...HTTP_FAULTS, ...LINES, ...TRANSFER_FAULTS],
  'batches.create': [...BATCH_REPLY, ...BATCH_FAULTS],
  'batches.retrieve': BATCH_REPLY,
  'batches.list': BATCH_REPLY,
  'batches.cancel': HTTP_FAULTS,
  'batches.delete': HTTP_FAULTS,
  'models.list': HTTP_FAULTS,
  'models.generateContent': HTTP_FAULTS,
  'models.embedContent': HTTP_FAULTS,
  'webhooks.keys': HTTP_FAULTS,
  'batch:results': [...LINES, 'no_output_file'],
  'webhook:deliver': WEBHOOK_FAULTS,
};
