import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { sendJson, startScriptedServer } from '../../tests/contract/scripted-server.ts';
import { createGeminiProvider } from './adapter.ts';

const CHUNK_BYTES = 8 * 1024 * 1024;

/** Uploads a file of the content through a server whose replies are scripted. */
async function uploadThrough(
  content: string | Buffer,
  reply: (request: IncomingMessage, response: ServerResponse, origin: string) => void,
  signal = new AbortController().signal,
) {
  const server = await startScriptedServer((request, response) => reply(request, response, server.url));
  const folder = await mkdtemp(join(tmpdir(), 'gemini-upload-'));
  onTestFinished(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });
  const path = join(folder, 'input.jsonl');
  await writeFile(path, content);
  const settings = { apiKey: 'AIzaTestKey1', requestTimeoutMs: 5000, idleTimeoutMs: 5000 };
  const provider = createGeminiProvider({ ...settings, baseUrl: server.url });
  const uploading = provider.uploadInput({ path, fileName: 'att-1.jsonl', signal });
  return { server, uploading };
}

const accept =
  (received: IncomingHttpHeaders[] = []) =>
  (request: IncomingMessage, response: ServerResponse, origin: string) => {
    received.push(request.headers);
    if (request.url === '/upload/v1beta/files') {
      // Another host than the base's: the SDK keeps to the base's, and the key with it.
      response.setHeader(
        'x-goog-upload-url',
        `${origin.replace('127.0.0.1', 'upload.invalid')}/upload/v1beta/files?upload_id=u1`,
      );
      return sendJson(response, 200, {});
    }
    const isLast = String(request.headers['x-goog-upload-command']).includes('finalize');
    return sendJson(
      response,
      200,
      { file: { name: 'files/in1' } },
      { 'x-goog-upload-status': isLast ? 'final' : 'active' },
    );
  };

test('uploads in chunks, and names the type of the file', async () => {
  const received: IncomingHttpHeaders[] = [];
  const { server, uploading } = await uploadThrough(Buffer.alloc(CHUNK_BYTES + 3, 'x'), accept(received));
  expect(await uploading).toEqual({ inputFileId: 'files/in1' });
  expect(server.requests).toEqual([
    'POST /upload/v1beta/files',
    'POST /upload/v1beta/files?upload_id=u1',
    'POST /upload/v1beta/files?upload_id=u1',
  ]);
  expect(received).toMatchObject([
    {
      'x-goog-api-key': 'AIzaTestKey1',
      'x-goog-upload-header-content-type': 'application/jsonl',
      'x-goog-upload-header-content-length': String(CHUNK_BYTES + 3),
    },
    { 'x-goog-upload-offset': '0', 'x-goog-upload-command': 'upload', 'content-length': String(CHUNK_BYTES) },
    { 'x-goog-upload-offset': String(CHUNK_BYTES), 'x-goog-upload-command': 'upload, finalize' },
  ]);
  expect(server.lastBody()).toBe('xxx');
});

test('sends the bytes as they are', async () => {
  const { server, uploading } = await uploadThrough('{"a":"é"}\n', accept());
  await uploading;
  expect(server.lastBody()).toBe('{"a":"é"}\n');
});

test('refuses an empty file before anything is sent', async () => {
  const { server, uploading } = await uploadThrough('', accept());
  await expect(uploading).rejects.toMatchObject({ code: 'rejected', mayHaveActed: false });
  expect(server.requests).toEqual([]);
});

test('a refusal is the provider’s, with its words', async () => {
  const error = {
    code: 429,
    message: 'Too many uploads',
    status: 'RESOURCE_EXHAUSTED',
    details: [{ retryDelay: '3s' }],
  };
  const { server, uploading } = await uploadThrough('x', (_, response) => sendJson(response, 429, { error }));
  await expect(uploading).rejects.toMatchObject({
    code: 'rate_limited',
    retryAfterMs: 3000,
    message: 'Too many uploads',
  });
  expect(server.requests).toHaveLength(1);
});

test.each([
  ['no address to upload to', () => ({})],
  [
    'an end without a file',
    (origin: string) => ({ 'x-goog-upload-url': `${origin}/u`, 'x-goog-upload-status': 'final' }),
  ],
  [
    'a cancelled upload',
    (origin: string) => ({ 'x-goog-upload-url': `${origin}/u`, 'x-goog-upload-status': 'cancelled' }),
  ],
  ['no end', (origin: string) => ({ 'x-goog-upload-url': `${origin}/u`, 'x-goog-upload-status': 'active' })],
])('a reply with %s is malformed', async (_name, headersOf) => {
  const { uploading } = await uploadThrough('x', (_, response, origin) =>
    sendJson(response, 200, {}, headersOf(origin)),
  );
  await expect(uploading).rejects.toMatchObject({ code: 'malformed_reply', isRetryable: true });
});

test('an abort in the middle ends the upload', async () => {
  const controller = new AbortController();
  const { uploading } = await uploadThrough(
    'x',
    (request, response, origin) => {
      if (request.url === '/upload/v1beta/files') accept()(request, response, origin);
      else controller.abort();
    },
    controller.signal,
  );
  await expect(uploading).rejects.toMatchObject({ code: 'aborted', mayHaveActed: true });
});
