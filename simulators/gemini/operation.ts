import { type BatchStatus, isTerminal, type Tally } from '../batch-record.ts';
import type { FaultAction } from '../fault-actions.ts';
import { shownCounts } from '../shown-counts.ts';
import { type RpcStatus, rpcStatus } from './errors.ts';
import type { ModelTask } from './models.ts';
import type { BatchRecord } from './records.ts';
import { withoutZeros } from './replies.ts';

const TYPES: Readonly<Record<ModelTask, string>> = {
  generate: 'type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch',
  embed: 'type.googleapis.com/google.ai.generativelanguage.v1main.EmbedContentBatch',
};
const STATES: Readonly<Record<BatchStatus, string>> = {
  validating: 'PENDING',
  in_progress: 'RUNNING',
  finalizing: 'RUNNING',
  cancelling: 'RUNNING',
  completed: 'SUCCEEDED',
  failed: 'FAILED',
  expired: 'EXPIRED',
  cancelled: 'CANCELLED',
};

export interface OperationParts {
  counts: Tally;
  now: number;
  /** Undefined where outputs are left out; inline responses are given as their JSON text, one each. */
  output: { responsesFile: string } | { inlined: readonly string[] } | undefined;
  action: FaultAction;
}

/** The state a batch shows; being cancelled is none of them. */
export function stateOf({ status, enteredAt }: BatchRecord): string {
  const neverRan = status === 'cancelling' && enteredAt.in_progress === undefined;
  return `BATCH_STATE_${neverRan ? 'PENDING' : STATES[status]}`;
}

/**
 * A batch as the JSON text of a long-running Operation (Gemini API docs, Batch API; wire bodies as users publish them):
 * counts as text without zeros, the output twice, an error unless it succeeded. Text, since inline responses go out as
 * they were written.
 */
export function operationText(batch: BatchRecord, { counts, now, output, action }: OperationParts): string {
  const isDone = isTerminal(batch.status);
  const placeholder = `inlined responses of ${batch.id}`;
  const shown = output === undefined || 'responsesFile' in output ? output : inlined(placeholder);
  const error = isDone ? endError(batch) : undefined;
  const text = JSON.stringify({
    name: `batches/${batch.id}`,
    metadata: {
      '@type': TYPES[batch.task],
      model: `models/${batch.model}`,
      displayName: batch.displayName,
      ...(batch.source === 'file' && { inputConfig: { fileName: `files/${batch.inputFileId}` } }),
      output: shown,
      createTime: time(batch.createdAt),
      endTime: isDone ? time(batch.enteredAt[batch.status] ?? now) : undefined,
      updateTime: time(updatedAt(batch, now)),
      batchStats: batchStats(counts, action),
      state: action.native_status ?? stateOf(batch),
      priority: batch.priority,
      name: `batches/${batch.id}`,
    },
    ...(isDone && { done: true }),
    ...(error !== undefined && { error }),
    ...(shown !== undefined && { response: { '@type': `${TYPES[batch.task]}Output`, ...shown } }),
  });
  if (output === undefined || !('inlined' in output)) return text;
  return text.replaceAll(JSON.stringify(placeholder), () => `[${output.inlined.join(',')}]`);
}

export function time(ms: number): string {
  return new Date(ms).toISOString();
}

/** Why a batch has no output, or undefined when it succeeded. */
export function endError(batch: BatchRecord): RpcStatus | undefined {
  switch (batch.status) {
    case 'failed':
      return batch.error ?? rpcStatus('INTERNAL', 'An internal error has occurred.');
    case 'expired':
      return batch.error ?? rpcStatus('DEADLINE_EXCEEDED', 'The batch was not processed in time.');
    case 'cancelled':
      return batch.error ?? rpcStatus('CANCELLED', 'The operation was cancelled.');
    default:
      return undefined;
  }
}

function inlined(placeholder: string) {
  return { inlinedResponses: { inlinedResponses: placeholder } };
}

function updatedAt(batch: BatchRecord, now: number): number {
  return batch.status === 'in_progress' ? now : Math.max(batch.createdAt, ...Object.values(batch.enteredAt));
}

/** `batchStats`; a fault that asks for `strings` gets numbers, since text is what this API always gives. */
function batchStats({ total, completed, failed }: Tally, { counts: wanted }: FaultAction) {
  const counts = {
    requestCount: total,
    successfulRequestCount: completed,
    failedRequestCount: failed,
    pendingRequestCount: total - completed - failed,
  };
  if (wanted === 'strings') return counts;
  const shown = shownCounts(counts, wanted);
  if (shown === undefined || (wanted === undefined && total === 0)) return undefined;
  const isScripted = typeof wanted === 'object';
  const text = withoutZeros(Object.fromEntries(Object.entries(shown).map(([name, count]) => [name, String(count)])));
  return isScripted ? { ...text, ...wanted } : text;
}
