import { openAsBlob } from 'node:fs';
import { OpenAI } from 'openai';
import type { Provider } from '../../domain/provider.ts';
import { uploadTimeoutMs, withDeadline } from '../deadline.ts';
import { readFileContent } from '../file-content.ts';
import { unlessGone } from '../gone.ts';
import { fetchWithHeaders } from '../own-headers.ts';
import type { BatchProvider, CreateBatchInput, KeptFiles, NativeBatch, ResultFile, UploadInput } from '../provider.ts';
import { ProviderError } from '../provider-error.ts';
import { malformedReply, parseReply, rejectedError } from '../reply-error.ts';
import { toNativeBatch } from './batch.ts';
import { complete } from './complete.ts';
import { decodeLine } from './decode.ts';
import { encodeItem, mapEndpoint, OPENAI_PATH_PREFIX } from './encode.ts';
import { toProviderError } from './errors.ts';
import { ATTEMPT_TOKEN_KEY, findBatches, listLabelled } from './find-batches.ts';
import { BatchReply, FileReply } from './wire.ts';

export interface OpenAiSettings {
  apiKey: string;
  /** With the version, such as `https://api.openai.com/v1`, which is also what null means. */
  baseUrl: string | null;
  /** Set for another provider that speaks OpenAI's batch API. */
  compatible?: {
    provider: Provider;
    /** How its key is sent: as a bearer token, or in a header `api-key` (Azure OpenAI docs). */
    auth: 'bearer' | 'api-key';
    /** What stands before `/chat/completions` in the `url` of its lines. */
    pathPrefix: string;
  };
  /** From sending a request to the last byte of its reply, for all but files. */
  requestTimeoutMs: number;
  /** Longest silence in the middle of a download. */
  idleTimeoutMs: number;
}

/** OpenAI's Batch API, or a provider's that is compatible with it, through the official SDK. */
export function createOpenAiProvider(settings: OpenAiSettings): BatchProvider {
  const client = createClient(settings);
  const { requestTimeoutMs, idleTimeoutMs, compatible } = settings;
  const pathPrefix = compatible?.pathPrefix ?? OPENAI_PATH_PREFIX;

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

  function fetchList(query: object, signal: AbortSignal): Promise<unknown> {
    return call(signal, (options) => client.get('/batches', { query, ...options }));
  }

  async function uploadInput({ path, fileName, signal }: UploadInput): Promise<{ inputFileId: string }> {
    // OpenAI refuses a batch file by any other ending.
    const name = fileName.endsWith('.jsonl') ? fileName : `${fileName}.jsonl`;
    // A file-backed blob is read as it is sent, so memory stays flat and the length is known.
    const file = new File([await openAsBlob(path)], name, { type: 'application/jsonl' });
    const timeoutMs = uploadTimeoutMs(requestTimeoutMs, file.size);
    const reply = await call(signal, (options) => client.files.create({ file, purpose: 'batch' }, options), timeoutMs);
    return { inputFileId: parseReply(FileReply, reply, 'a file').id };
  }

  async function createBatch({ attemptToken, endpoint, inputFileId, signal }: CreateBatchInput): Promise<NativeBatch> {
    if (inputFileId === null) throw rejectedError('OpenAI takes the input as an uploaded file');
    const body = {
      input_file_id: inputFileId,
      // A compatible provider may have another prefix than the one the SDK's types know.
      endpoint: mapEndpoint(endpoint, pathPrefix as typeof OPENAI_PATH_PREFIX),
      completion_window: '24h',
      metadata: { [ATTEMPT_TOKEN_KEY]: attemptToken },
    } as const;
    return toBatch(await call(signal, (options) => client.batches.create(body, options)));
  }

  async function retrieveBatch(input: { providerBatchId: string; signal: AbortSignal }): Promise<NativeBatch> {
    const { providerBatchId, signal } = input;
    const reply = await call(signal, (options) => client.batches.retrieve(providerBatchId, options));
    return toKnownBatch(reply, providerBatchId);
  }

  async function cancelBatch(input: { providerBatchId: string; signal: AbortSignal }): Promise<NativeBatch> {
    const { providerBatchId, signal } = input;
    try {
      const reply = await call(signal, (options) => client.batches.cancel(providerBatchId, options));
      return toKnownBatch(reply, providerBatchId);
    } catch (error) {
      if (!isRefusedCancel(error)) throw error;
      const batch = await retrieveBatch(input);
      if (batch.phase === 'validating' || batch.phase === 'running') throw error;
      return batch;
    }
  }

  async function* downloadFile(input: { file: ResultFile; signal: AbortSignal }): AsyncIterable<Uint8Array> {
    const { file, signal } = input;
    const response = await call(signal, (options) => client.files.content(file.fileId, options));
    yield* readFileContent(response, { idleTimeoutMs, signal });
  }

  /** A batch itself cannot be deleted: it names its files, and holds nothing of them (OpenAI API reference). */
  async function deleteFiles({ files, signal }: { files: KeptFiles; signal: AbortSignal }): Promise<void> {
    const ids = [files.inputFileId, files.outputFileId, files.errorFileId].filter((id) => id !== null);
    for (const id of new Set(ids)) await unlessGone(call(signal, (options) => client.files.delete(id, options)));
  }

  return {
    provider: compatible?.provider ?? 'openai',
    inputFraming: { prefix: '', separator: '\n', suffix: '\n' },
    encodeItem: (item) => encodeItem(item, { pathPrefix, isOpenAi: compatible === undefined }),
    uploadInput,
    createBatch,
    findBatches: (input) => findBatches(input, (query) => fetchList(query, input.signal)),
    listLabelled: ({ createdAfter, signal }) => listLabelled(createdAfter, (query) => fetchList(query, signal)),
    retrieveBatch,
    cancelBatch,
    resultFiles,
    downloadFile,
    deleteFiles,
    decodeLine,
    complete: (input) => complete(input, { client, idleTimeoutMs, isOpenAi: compatible === undefined }),
  };
}

/**
 * One request for one call. A create repeated by the SDK would be a second paid batch; reads, uploads and cancels are
 * repeated by the workflow, which sees each try, heeds the wait the provider asks for and can be stopped, while the SDK
 * sleeps unseen. Every option that the SDK would otherwise read from the environment is set.
 */
function createClient({ apiKey, baseUrl, requestTimeoutMs, compatible }: OpenAiSettings): OpenAI {
  return new OpenAI({
    apiKey,
    // A header of null is left out.
    defaultHeaders: compatible?.auth === 'api-key' ? { 'api-key': apiKey, authorization: null } : {},
    baseURL: baseUrl,
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    timeout: requestTimeoutMs,
    maxRetries: 0,
    // A followed redirect needs a second copy of the body in memory, and hands the key to another address.
    fetchOptions: { redirect: 'error' },
    fetch: fetchWithHeaders(OWN_HEADERS),
    logLevel: 'off',
  });
}

/** The headers a request of ours has; the SDK's own telemetry is `x-stainless-…`. */
const OWN_HEADERS = /^(accept|authorization|api-key|content-type|user-agent|x-stainless-.*)$/;

function resultFiles({ outputFileId, errorFileId }: NativeBatch): ResultFile[] {
  const files: ResultFile[] = [];
  if (outputFileId !== null) files.push({ kind: 'output', fileId: outputFileId });
  if (errorFileId !== null && errorFileId !== outputFileId) files.push({ kind: 'error', fileId: errorFileId });
  return files;
}

/** What a cancel that comes too late, or twice, is answered with; 400 is undocumented, so both are looked into. */
function isRefusedCancel(error: unknown): boolean {
  return error instanceof ProviderError && (error.status === 400 || error.status === 409);
}

function toBatch(reply: unknown): NativeBatch {
  return toNativeBatch(parseReply(BatchReply, reply, 'a batch'));
}

function toKnownBatch(reply: unknown, providerBatchId: string): NativeBatch {
  const batch = parseReply(BatchReply, reply, 'a batch');
  if (batch.id !== providerBatchId || !batch.status) throw malformedReply(reply, `batch ${providerBatchId}`);
  return toNativeBatch(batch);
}
