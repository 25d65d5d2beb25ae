import { openAsBlob } from 'node:fs';
import type { Provider } from '../../domain/provider.ts';
import { uploadTimeoutMs, withDeadline } from '../deadline.ts';
import { readFileContent } from '../file-content.ts';
import { unlessGone } from '../gone.ts';
import type { BatchProvider, CreateBatchInput, KeptFiles, NativeBatch, ResultFile } from '../provider.ts';
import { ProviderError } from '../provider-error.ts';
import { malformedReply, parseReply, rejectedError } from '../reply-error.ts';
import { hasResults, toNativeBatch } from './batch.ts';
import { type AnthropicApiVersion, createClient } from './client.ts';
import { complete } from './complete.ts';
import { decodeLine } from './decode.ts';
import { encodeItem } from './encode.ts';
import { toProviderError } from './errors.ts';
import { findBatches } from './find-batches.ts';
import { resolveResultsUrl } from './results-url.ts';
import { BatchReply } from './wire.ts';

export interface AnthropicSettings {
  apiKey: string;
  /** Without the version, such as `https://api.anthropic.com`, which is also what null means. */
  baseUrl: string | null;
  /** The `anthropic-version` of every request. */
  apiVersion: AnthropicApiVersion;
  /** Set for another provider that speaks Anthropic's API. */
  provider?: Provider;
  /** From sending a request to the last byte of its reply, for all but files. */
  requestTimeoutMs: number;
  /** Longest silence in the middle of a download. */
  idleTimeoutMs: number;
}

const LIST_PATH = '/v1/messages/batches';

/** Anthropic's Message Batches API through the official SDK. */
export function createAnthropicProvider(settings: AnthropicSettings): BatchProvider {
  const client = createClient(settings);
  const { requestTimeoutMs, idleTimeoutMs, apiVersion } = settings;

  async function call<Reply>(
    signal: AbortSignal,
    request: (options: { signal: AbortSignal; timeout: number }) => Promise<Reply>,
    timeoutMs = requestTimeoutMs,
  ): Promise<Reply> {
    try {
      return await withDeadline({ signal, timeoutMs }, (deadline) => request({ signal: deadline, timeout: timeoutMs }));
    } catch (error) {
      throw toProviderError(error, new Date());
    }
  }

  /** The finished file is the body: the SDK's own create would hold it in memory several times over. */
  async function createBatch({ path, signal }: CreateBatchInput): Promise<NativeBatch> {
    if (path === null) throw rejectedError('Anthropic takes the input with the create');
    const body = await openInput(path);
    const headers = { 'content-type': 'application/json' };
    const timeoutMs = uploadTimeoutMs(requestTimeoutMs, body.size);
    const reply = await call(signal, (options) => client.post(LIST_PATH, { body, headers, ...options }), timeoutMs);
    return toNativeBatch(parseReply(BatchReply, reply, 'a batch'));
  }

  async function retrieveReply(providerBatchId: string, signal: AbortSignal): Promise<BatchReply> {
    const reply = await call(signal, (options) => client.messages.batches.retrieve(providerBatchId, {}, options));
    return parseKnownBatch(reply, providerBatchId);
  }

  async function cancelBatch(input: { providerBatchId: string; signal: AbortSignal }): Promise<NativeBatch> {
    const { providerBatchId, signal } = input;
    try {
      const reply = await call(signal, (options) => client.messages.batches.cancel(providerBatchId, {}, options));
      return toNativeBatch(parseKnownBatch(reply, providerBatchId));
    } catch (error) {
      if (!isRefusedCancel(error)) throw error;
      const batch = toNativeBatch(await retrieveReply(providerBatchId, signal));
      if (batch.phase === 'running') throw error;
      return batch;
    }
  }

  /** The raw reply: the SDK's `results()` parses, and one garbled line would end its stream. */
  async function* readResults(batch: BatchReply, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
    if (!batch.results_url || !hasResults(batch)) throw noResultsError(batch);
    const url = resolveResultsUrl(batch.results_url, client.baseURL);
    const headers = { accept: 'application/binary' };
    const response = await call(signal, (options) => client.get(url, { headers, ...options }).asResponse());
    yield* readFileContent(response, { idleTimeoutMs, signal });
  }

  async function* downloadFile(input: { file: ResultFile; signal: AbortSignal }): AsyncIterable<Uint8Array> {
    const { file, signal } = input;
    yield* readResults(await retrieveReply(file.fileId, signal), signal);
  }

  /** Input and results go with the batch; one that has not ended is refused (Anthropic API reference). */
  async function deleteFiles({ files, signal }: { files: KeptFiles; signal: AbortSignal }): Promise<void> {
    const { providerBatchId: id } = files;
    if (id !== null) await unlessGone(call(signal, (options) => client.messages.batches.delete(id, {}, options)));
  }

  return {
    provider: settings.provider ?? 'anthropic',
    inputFraming: { prefix: '{"requests":[', separator: ',', suffix: ']}' },
    encodeItem: (item) => encodeItem(item, apiVersion),
    uploadInput: async () => null,
    createBatch,
    findBatches: (input) =>
      findBatches(input, {
        fetchPage: (query) => call(input.signal, (options) => client.get(LIST_PATH, { query, ...options })),
        readResults: (batch) => readResults(batch, input.signal),
      }),
    listLabelled: null,
    retrieveBatch: async ({ providerBatchId, signal }) => toNativeBatch(await retrieveReply(providerBatchId, signal)),
    cancelBatch,
    resultFiles: ({ outputFileId }) => (outputFileId === null ? [] : [{ kind: 'output', fileId: outputFileId }]),
    downloadFile,
    deleteFiles,
    decodeLine,
    complete: (input) => complete(input, { client, apiVersion, idleTimeoutMs }),
  };
}

/** A file-backed blob is read as it is sent, so memory stays flat and the length is known. */
async function openInput(path: string): Promise<Blob> {
  try {
    return await openAsBlob(path);
  } catch (cause) {
    const message = 'the input file cannot be read';
    throw new ProviderError({ code: 'rejected', message, isRetryable: false, mayHaveActed: false, cause });
  }
}

/** What a cancel that comes too late may be answered with; undocumented, so both are looked into. */
function isRefusedCancel(error: unknown): boolean {
  return error instanceof ProviderError && (error.status === 400 || error.status === 409);
}

/** Archived 29 days after creation, they are gone for good; otherwise the node that answers may not know them yet. */
function noResultsError({ archived_at: archivedAt }: BatchReply): ProviderError {
  return new ProviderError({
    code: 'not_found',
    message: archivedAt ? 'the results of the batch are archived' : 'the batch names no results',
    isRetryable: !archivedAt,
    mayHaveActed: false,
  });
}

function parseKnownBatch(reply: unknown, providerBatchId: string): BatchReply {
  const batch = parseReply(BatchReply, reply, 'a batch');
  if (batch.id !== providerBatchId || !batch.processing_status) throw malformedReply(reply, `batch ${providerBatchId}`);
  return batch;
}
