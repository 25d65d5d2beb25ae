import type { BatchProvider, DirectAnswer } from './provider.ts';
import { ProviderError } from './provider-error.ts';

const REDACTED = '[key]';

/**
 * The adapter with errors that never quote its key. A provider, or a proxy before it, may repeat the key it refuses, in
 * whatever shape that has.
 */
export function keepSecret(adapter: BatchProvider, apiKey: string): BatchProvider {
  const guard =
    <Input, Result>(call: (input: Input) => Promise<Result>) =>
    async (input: Input): Promise<Result> => {
      try {
        return await call(input);
      } catch (error) {
        throw withoutKey(error, apiKey);
      }
    };
  const { listLabelled } = adapter;
  return {
    provider: adapter.provider,
    inputFraming: adapter.inputFraming,
    encodeItem: (item) => adapter.encodeItem(item),
    uploadInput: guard((input) => adapter.uploadInput(input)),
    createBatch: guard((input) => adapter.createBatch(input)),
    findBatches: guard((input) => adapter.findBatches(input)),
    listLabelled: listLabelled === null ? null : guard((input) => listLabelled(input)),
    retrieveBatch: guard((input) => adapter.retrieveBatch(input)),
    cancelBatch: guard((input) => adapter.cancelBatch(input)),
    deleteFiles: guard((input) => adapter.deleteFiles(input)),
    resultFiles: (batch) => adapter.resultFiles(batch),
    async *downloadFile(input) {
      try {
        yield* adapter.downloadFile(input);
      } catch (error) {
        throw withoutKey(error, apiKey);
      }
    },
    decodeLine: (endpoint, line) => adapter.decodeLine(endpoint, line),
    complete: guard(async (input) => {
      const answer = await adapter.complete(input);
      return answer.kind === 'failed' ? failedWithoutKey(answer, apiKey) : answer;
    }),
  };
}

/** A refusal of a request may quote its headers too. */
function failedWithoutKey(
  failed: Extract<DirectAnswer, { kind: 'failed' }>,
  apiKey: string,
): Extract<DirectAnswer, { kind: 'failed' }> {
  const { message, body } = failed;
  return {
    ...failed,
    message: message.replaceAll(apiKey, REDACTED),
    ...(body !== undefined && { body: body.replaceAll(apiKey, REDACTED) }),
  };
}

/** The cause goes with the key: what a library hangs on its errors is not looked through. */
function withoutKey(error: unknown, apiKey: string): unknown {
  if (!(error instanceof ProviderError) || !quotes(error, apiKey)) return error;
  const { code, message, status, requestId, retryAfterMs, isRetryable, mayHaveActed } = error;
  const facts = { code, status, requestId, retryAfterMs, isRetryable, mayHaveActed };
  return new ProviderError({ ...facts, message: message.replaceAll(apiKey, REDACTED) });
}

function quotes(error: unknown, apiKey: string): boolean {
  if (!(error instanceof Error)) return false;
  return error.message.includes(apiKey) || (error.stack ?? '').includes(apiKey) || quotes(error.cause, apiKey);
}
