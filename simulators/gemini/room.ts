import { isTerminal } from '../batch-record.ts';
import { refusal, retryInfo } from './errors.ts';
import type { BatchRecord } from './records.ts';
import type { GeminiSettings } from './settings.ts';

const QUOTA = 'type.googleapis.com/google.rpc.QuotaFailure';

/** A batch about to be created; its tokens are counted only when their number matters. */
export interface Newcomer {
  model: string;
  mostTokens: number;
  countTokens(): Promise<number>;
}

/**
 * Refuses a create with 429 when as many batches run as may, or when the input tokens of the model's batches, this one
 * included, are more than it has room for (Gemini API docs, rate limits of the Batch API). The one names when to try
 * again, the other does not. `read` resolves when the tokens of a batch are known.
 */
export async function requireRoom(
  newcomer: Newcomer,
  batches: readonly BatchRecord[],
  settings: GeminiSettings,
  read: (batch: BatchRecord) => Promise<void>,
): Promise<void> {
  const running = batches.filter((batch) => !isTerminal(batch.status));
  if (running.length >= settings.concurrentBatchLimit) {
    throw exhausted(`Concurrent batch requests limit: ${settings.concurrentBatchLimit}.`, [retryInfo(60)]);
  }
  const { model } = newcomer;
  const limit = settings.enqueuedTokenLimits[model] ?? settings.enqueuedTokenLimit;
  const rivals = running.filter((batch) => batch.model === model);
  const most = rivals.reduce((sum, batch) => sum + (batch.tokens ?? batch.mostTokens), newcomer.mostTokens);
  if (most <= limit) return;
  await Promise.all(rivals.map(read));
  const others = rivals.filter((batch) => !isTerminal(batch.status));
  const enqueued = others.reduce((sum, batch) => sum + (batch.tokens ?? 0), await newcomer.countTokens());
  if (enqueued <= limit) return;
  throw exhausted(`Batch enqueued tokens limit of ${model}: ${limit}, wanted: ${enqueued}.`, [
    { '@type': QUOTA, violations: [{ subject: model, description: `BatchEnqueuedTokens limit ${limit}` }] },
  ]);
}

function exhausted(reason: string, details: unknown[]) {
  return refusal('RESOURCE_EXHAUSTED', `You exceeded your current quota. ${reason}`, details);
}
