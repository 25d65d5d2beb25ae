import { openAsBlob } from 'node:fs';
import { OpenAI } from 'openai';
import type { z } from 'zod';
import { withDeadline } from '../deadline.ts';
import type { BatchProvider, CreateBatchInput, NativeBatch, ResultFile, UploadInput } from '../provider.ts';
import { ProviderError } from '../provider-error.ts';
import { toNativeBatch } from './batch.ts';
import { decodeLine } from './decode.ts';
import { readFileContent } from './download.ts';
import { encodeItem, mapEndpoint } from './encode.ts';
import { malformedReply, rejectedError, toProviderError } from './errors.ts';
import { ATTEMPT_TOKEN_KEY, findBatches } from './find-batches.ts';
import { BatchReply, FileReply } from './wire.ts';

export interface OpenAiSettings {
  apiKey: string;
  /** With the version, such as `https://api.openai.com/v1`, which is also what null means. */
  baseUrl: string | null;
  /** From sending a request to the last byte of its reply, for all but files. */
  requestTimeoutMs: number;
  /** Longest silence in the middle of a download. */
  idleTimeoutMs: number;
}

/** An upload gets this much time for its bytes on top of the request's own: 256 kB/s is a poor line. */
const MIN_UPLOAD_BYTES_PER_MS = 256;

/** OpenAI's Batch API through the official SDK. */
export function createOpenAiProvider(settings: OpenAiSettings): BatchProvider {
  const client = createClient(settings);
  const { requestTimeoutMs, idleTimeoutMs } = settings;

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

  async function uploadInput({ path, fileName, signal }: UploadInput): Promise<{ inputFileId: string }> {
    // OpenAI refuses a batch file by any other ending.
    const name = fileName.endsWith('.jsonl') ? fileName : `${fileName}.jsonl`;
    // A file-backed blob is read as it is sent, so memory stays flat and the length is known.
    const file = new File([await openAsBlob(path)], name, { type: 'application/jsonl' });
    const timeoutMs = requestTimeoutMs + Math.ceil(file.size / MIN_UPLOAD_BYTES_PER_MS);
    const reply = await call(signal, (options) => client.files.create({ file, purpose: 'batch' }, options), timeoutMs);
    return { inputFileId: parseReply(FileReply, reply, 'a file').id };
  }

  async function createBatch({ attemptToken, endpoint, inputFileId, signal }: CreateBatchInput): Promise<NativeBatch> {
    if (inputFileId === null) throw rejectedError('OpenAI takes the input as an uploaded file');
    const body = {
      input_file_id: inputFileId,
      endpoint: mapEndpoint(endpoint),
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

  return {
    provider: 'openai',
    inputFraming: { prefix: '', separator: '\n', suffix: '\n' },
    encodeItem,
    uploadInput,
    createBatch,
    findBatches: (input) =>
      findBatches(input, (query) => call(input.signal, (options) => client.get('/batches', { query, ...options }))),
    retrieveBatch,
    cancelBatch,
    resultFiles,
    downloadFile,
    decodeLine,
  };
}

/**
 * One request for one call. A create repeated by the SDK would be a second paid batch; reads, uploads and cancels are
 * repeated by the workflow, which sees each try, heeds the wait the provider asks for and can be stopped, while the SDK
 * sleeps unseen. Every option that the SDK would otherwise read from the environment is set.
 */
function createClient({ apiKey, baseUrl, requestTimeoutMs }: OpenAiSettings): OpenAI {
  return new OpenAI({
    apiKey,
    baseURL: baseUrl,
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    timeout: requestTimeoutMs,
    maxRetries: 0,
    // A followed redirect needs a second copy of the body in memory, and hands the key to another address.
    fetchOptions: { redirect: 'error' },
    logLevel: 'off',
  });
}

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

/** The SDK returns a string for a reply that is not JSON, and whatever object came for one that is. */
function parseReply<Reply>(schema: z.ZodType<Reply>, reply: unknown, expected: string): Reply {
  const parsed = schema.safeParse(reply);
  if (!parsed.success) throw malformedReply(reply, expected);
  return parsed.data;
}
