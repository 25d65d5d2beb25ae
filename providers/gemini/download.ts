import { readFileContent } from '../file-content.ts';
import { watchIdle } from '../idle-watchdog.ts';
import type { ResultFile } from '../provider.ts';
import { ProviderError } from '../provider-error.ts';
import { malformedReply } from '../reply-error.ts';
import type { GeminiHttp } from './http.ts';
import { listInlineResults } from './inline-results.ts';

interface Limits {
  idleTimeoutMs: number;
  signal: AbortSignal;
}

/**
 * The bytes of a file of results, or one line for each result that the batch itself carries. Throws ProviderError, also in
 * the middle.
 */
export async function* downloadResults(
  { fileId }: ResultFile,
  http: GeminiHttp,
  limits: Limits,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (fileId.startsWith('files/')) yield* readFileContent(await openFile(fileId, http, limits.signal), limits);
  else yield* readInline(fileId, http, limits);
}

/** The path of the REST reference, else the one the SDK uses: the same file, where a server has both. */
async function openFile(fileId: string, http: GeminiHttp, signal: AbortSignal): Promise<Response> {
  const path = `/v1beta/${fileId}:download?alt=media`;
  try {
    return await http.open(`/download${path}`, signal);
  } catch (error) {
    if (!(error instanceof ProviderError) || error.status !== 404) throw error;
    return http.open(path, signal);
  }
}

async function* readInline(batchName: string, http: GeminiHttp, limits: Limits): AsyncGenerator<Uint8Array> {
  const response = await http.open(`/v1beta/${batchName}`, limits.signal);
  if (response.body === null) throw malformedReply(null, `batch ${batchName}`);
  const chunks: Uint8Array[] = [];
  for await (const chunk of watchIdle(response.body, limits)) chunks.push(chunk);
  yield* listInlineResults(Buffer.concat(chunks), batchName);
}
