import {
  BATCH_FAULTS,
  type FaultKey,
  HTTP_FAULTS,
  LINE_FAULTS,
  TRANSFER_FAULTS,
  WEBHOOK_FAULTS,
} from '../fault-actions.ts';

const BATCH_REPLY: readonly FaultKey[] = [...HTTP_FAULTS, 'counts', 'native_status'];

/** Where faults may strike, and the keys that mean something there. */
export const OPENAI_FAULT_ROUTES: Readonly<Record<string, readonly FaultKey[]>> = {
  'files.create': [...HTTP_FAULTS, 'cut'],
  'files.list': HTTP_FAULTS,
  'files.retrieve': HTTP_FAULTS,
  'files.content': [...HTTP_FAULTS, ...LINE_FAULTS, ...TRANSFER_FAULTS],
  'files.delete': HTTP_FAULTS,
  'batches.create': [...BATCH_REPLY, ...BATCH_FAULTS],
  'batches.list': BATCH_REPLY,
  'batches.retrieve': BATCH_REPLY,
  'batches.cancel': BATCH_REPLY,
  'models.list': HTTP_FAULTS,
  'chat.completions.create': HTTP_FAULTS,
  'responses.create': HTTP_FAULTS,
  'completions.create': HTTP_FAULTS,
  'embeddings.create': HTTP_FAULTS,
  'moderations.create': HTTP_FAULTS,
  'batch:results': [...LINE_FAULTS, 'no_output_file', 'no_error_file'],
  'webhook:deliver': WEBHOOK_FAULTS,
};
