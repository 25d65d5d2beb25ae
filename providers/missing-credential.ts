import type { BatchProvider } from './provider.ts';
import { ProviderError } from './provider-error.ts';

/** The adapter without a key: it encodes and decodes, and every call is refused before it is sent. */
export function withoutCredential(
  adapter: BatchProvider,
  why = `no credential for ${adapter.provider} is configured`,
): BatchProvider {
  const refuse = async (): Promise<never> => {
    throw new ProviderError({
      code: 'credential_refused',
      message: why,
      isRetryable: false,
      mayHaveActed: false,
    });
  };
  return {
    provider: adapter.provider,
    inputFraming: adapter.inputFraming,
    encodeItem: (item) => adapter.encodeItem(item),
    uploadInput: refuse,
    createBatch: refuse,
    findBatches: refuse,
    listLabelled: adapter.listLabelled === null ? null : refuse,
    retrieveBatch: refuse,
    cancelBatch: refuse,
    deleteFiles: refuse,
    resultFiles: (batch) => adapter.resultFiles(batch),
    downloadFile: () => ({ [Symbol.asyncIterator]: () => ({ next: refuse }) }),
    decodeLine: (endpoint, line) => adapter.decodeLine(endpoint, line),
    complete: refuse,
  };
}
