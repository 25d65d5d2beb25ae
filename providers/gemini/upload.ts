import { openAsBlob } from 'node:fs';
import { uploadTimeoutMs } from '../deadline.ts';
import type { UploadInput } from '../provider.ts';
import { ProviderError } from '../provider-error.ts';
import { malformedReply, parseReply, rejectedError } from '../reply-error.ts';
import type { GeminiHttp } from './http.ts';
import { createSdk } from './sdk.ts';
import { UploadedFile } from './wire.ts';

/**
 * Sends the file by the SDK's resumable upload, 8 MiB at a time. A file-backed blob is read as it is sent, so memory stays
 * flat; the SDK cannot guess the type of a `.jsonl` file, and fails on an empty one only after it has begun.
 */
export async function uploadFile(
  { path, fileName, signal }: UploadInput,
  { apiKey, http, requestTimeoutMs }: { apiKey: string; http: GeminiHttp; requestTimeoutMs: number },
): Promise<{ inputFileId: string }> {
  const file = await openAsBlob(path, { type: 'application/jsonl' });
  if (file.size === 0) throw rejectedError('Gemini takes no empty file');
  const config = { mimeType: file.type, displayName: fileName };
  const reply = await http.call(
    signal,
    (deadline) => createSdk({ apiKey, http, signal: deadline }).files.upload({ file, config }).catch(rethrow),
    uploadTimeoutMs(requestTimeoutMs, file.size),
  );
  return { inputFileId: parseReply(UploadedFile, reply, 'a file').name };
}

/** The SDK's plain errors are about replies in which the headers of the protocol are missing. */
function rethrow(error: unknown): never {
  if (error instanceof ProviderError || !(error instanceof Error)) throw error;
  throw error.constructor === Error ? malformedReply(null, 'a step of a resumable upload') : error;
}
