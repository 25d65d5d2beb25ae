import { isTerminal } from '../batch-record.ts';
import type { BatchError, BatchRecord } from './records.ts';
import type { OpenAiSettings } from './settings.ts';

/**
 * The error of a batch that does not fit the queue of its model beside the batches running now, or undefined when it
 * fits. OpenAI reports this on the batch, after it was accepted; it may be created again later (OpenAI Batch API docs).
 */
export function tokenLimitError(
  batch: { model: string | null; tokens: number },
  others: readonly BatchRecord[],
  settings: Pick<OpenAiSettings, 'enqueuedTokenLimit' | 'enqueuedTokenLimits'>,
): BatchError | undefined {
  const limit = settings.enqueuedTokenLimits[batch.model ?? ''] ?? settings.enqueuedTokenLimit;
  const enqueued = others
    .filter((other) => other.model === batch.model && other.status !== 'validating' && !isTerminal(other.status))
    .reduce((sum, other) => sum + other.tokens, 0);
  if (enqueued + batch.tokens <= limit) return undefined;
  const message =
    `Enqueued token limit reached for ${batch.model} in organization org-simulated. Limit: ${limit} enqueued tokens. ` +
    'Please try again once some in_progress batches have been completed.';
  return { code: 'token_limit_exceeded', message, param: null, line: null };
}
