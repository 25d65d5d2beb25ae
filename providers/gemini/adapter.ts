import type { Provider } from '../../domain/provider.ts';
import { unlessGone } from '../gone.ts';
import type { BatchProvider, CreateBatchInput, KeptFiles, NativeBatch, ResultFile } from '../provider.ts';
import { ProviderError } from '../provider-error.ts';
import { malformedReply, parseReply, rejectedError } from '../reply-error.ts';
import { toNativeBatch } from './batch.ts';
import { complete } from './complete.ts';
import { decodeLine } from './decode.ts';
import { downloadResults } from './download.ts';
import { createPath, encodeItem } from './encode.ts';
import { findBatches, listLabelled } from './find-batches.ts';
import { createHttp } from './http.ts';
import { createSdk } from './sdk.ts';
import { uploadFile } from './upload.ts';
import { OperationReply } from './wire.ts';

export interface GeminiSettings {
  apiKey: string;
  /** The origin, such as `https://generativelanguage.googleapis.com`, which is also what null means. */
  baseUrl: string | null;
  /** The name it goes by; `gemini` unless another is set. */
  provider?: Provider;
  /** From sending a request to the last byte of its reply, for all but files. */
  requestTimeoutMs: number;
  /** Longest silence in the middle of a download. */
  idleTimeoutMs: number;
}

/**
 * The batch mode of the Gemini Developer API, always from an uploaded file: its lines carry keys, and it may be a hundred
 * times as large as a request. The SDK uploads and cancels; see `createHttp` for the rest.
 */
export function createGeminiProvider(settings: GeminiSettings): BatchProvider {
  const { apiKey, provider = 'gemini', requestTimeoutMs, idleTimeoutMs } = settings;
  const http = createHttp(settings);

  async function createBatch(input: CreateBatchInput): Promise<NativeBatch> {
    const { attemptToken, endpoint, model, inputFileId, signal } = input;
    if (inputFileId === null) throw rejectedError('Gemini takes the input as an uploaded file');
    const body = { batch: { displayName: attemptToken, inputConfig: { fileName: inputFileId } } };
    const reply = await http.postJson(createPath(endpoint, model), body, signal);
    return toNativeBatch(parseReply(OperationReply, reply, 'a batch'));
  }

  async function retrieveBatch(input: { providerBatchId: string; signal: AbortSignal }): Promise<NativeBatch> {
    const { providerBatchId, signal } = input;
    const reply = await http.getJson(`/v1beta/${providerBatchId}`, signal);
    const operation = parseReply(OperationReply, reply, 'a batch');
    const isKnown = operation.name === providerBatchId && (operation.metadata?.state || operation.done);
    if (!isKnown) throw malformedReply(reply, `batch ${providerBatchId}`);
    return toNativeBatch(operation);
  }

  /** The reply to a cancel is empty, so how the batch stands is asked for; one still at work is then being cancelled. */
  async function cancelBatch(input: { providerBatchId: string; signal: AbortSignal }): Promise<NativeBatch> {
    const { providerBatchId: name, signal } = input;
    try {
      await http.call(signal, (deadline) => createSdk({ apiKey, http, signal: deadline }).batches.cancel({ name }));
    } catch (error) {
      if (!isRefusedCancel(error)) throw error;
      const batch = await retrieveBatch(input);
      if (batch.phase !== 'ended') throw error;
      return batch;
    }
    const batch = await retrieveBatch(input);
    return batch.phase === 'ended' ? batch : { ...batch, phase: 'cancelling' };
  }

  /** The files, then the batch, whose own reply may carry results; each is deleted by its name (Gemini API reference). */
  async function deleteFiles({ files, signal }: { files: KeptFiles; signal: AbortSignal }): Promise<void> {
    const ids = [files.inputFileId, files.outputFileId, files.errorFileId, files.providerBatchId];
    for (const name of new Set(ids.filter((id) => id !== null)))
      await unlessGone(http.delete(`/v1beta/${name}`, signal));
  }

  function fetchList({ pageSize, pageToken = '' }: { pageSize: number; pageToken?: string }, signal: AbortSignal) {
    const query = new URLSearchParams({ pageSize: String(pageSize), ...(pageToken !== '' && { pageToken }) });
    return http.getJson(`/v1beta/batches?${query}`, signal);
  }

  return {
    provider,
    inputFraming: { prefix: '', separator: '\n', suffix: '\n' },
    encodeItem,
    uploadInput: (input) => uploadFile(input, { apiKey, http, requestTimeoutMs }),
    createBatch,
    findBatches: (input) => findBatches(input, (query) => fetchList(query, input.signal)),
    listLabelled: ({ createdAfter, signal }) => listLabelled(createdAfter, (query) => fetchList(query, signal)),
    retrieveBatch,
    cancelBatch,
    resultFiles,
    downloadFile: ({ file, signal }) => downloadResults(file, http, { idleTimeoutMs, signal }),
    deleteFiles,
    decodeLine,
    complete: (input) => complete(input, { http, idleTimeoutMs }),
  };
}

function resultFiles({ outputFileId }: NativeBatch): ResultFile[] {
  return outputFileId === null ? [] : [{ kind: 'output', fileId: outputFileId }];
}

/** What a cancel that comes too late, or twice, is answered with is not documented, so a refusal is looked into. */
function isRefusedCancel(error: unknown): boolean {
  return error instanceof ProviderError && (error.status === 400 || error.status === 409);
}
