import { expect, test } from 'vitest';
import { type Gemini, startGemini } from './testing/harness.ts';

const CHUNK_BYTES = 256 * 1024;

async function begin({ rest }: Gemini, bytes: number) {
  const started = await rest(
    'POST',
    '/upload/v1beta/files',
    { file: { mimeType: 'application/jsonl', displayName: 'by hand' } },
    {
      'x-goog-upload-protocol': 'resumable',
      'x-goog-upload-command': 'start',
      'x-goog-upload-header-content-length': String(bytes),
      'x-goog-upload-header-content-type': 'application/jsonl',
    },
  );
  expect([started.status, started.headers.get('x-goog-upload-status')]).toEqual([200, 'active']);
  const url = started.headers.get('x-goog-upload-url') ?? '';
  return async (command: string, offset = 0, body = '') => {
    const headers = { 'x-goog-upload-command': command, 'x-goog-upload-offset': String(offset) };
    const sent = await fetch(url, { method: 'POST', headers, body });
    const [status, received] = ['status', 'size-received'].map((name) => sent.headers.get(`x-goog-upload-${name}`));
    return { code: sent.status, status, received, body: JSON.parse(await sent.text()) };
  };
}

test('takes chunks at their offsets, tells how far it is, and takes a chunk again whose answer was lost', async () => {
  const gemini = await startGemini();
  const send = await begin(gemini, CHUNK_BYTES + 3);
  const first = 'a'.repeat(CHUNK_BYTES);
  expect(await send('upload', 0, first)).toMatchObject({ code: 200, status: 'active', received: String(CHUNK_BYTES) });
  expect(await send('query')).toMatchObject({ status: 'active', received: String(CHUNK_BYTES) });
  expect(await send('upload', 0, first)).toMatchObject({ code: 200, received: String(CHUNK_BYTES) });
  const last = await send('upload, finalize', CHUNK_BYTES, 'end');
  expect(last).toMatchObject({ status: 'final', body: { file: { sizeBytes: String(CHUNK_BYTES + 3) } } });
  expect(await send('upload, finalize', CHUNK_BYTES, 'end')).toEqual(last);
  expect((await gemini.client.files.list()).page).toHaveLength(1);
});

test.for([
  { what: 'a gap', command: 'upload', offset: CHUNK_BYTES, body: 'x' },
  { what: 'an odd chunk that is not the last', command: 'upload', offset: 0, body: 'x' },
  { what: 'more bytes than announced', command: 'upload, finalize', offset: 0, body: 'x'.repeat(CHUNK_BYTES * 3) },
  { what: 'an end before the last byte', command: 'upload, finalize', offset: 0, body: 'x' },
])('refuses $what and goes on from where it was', async ({ command, offset, body }) => {
  const gemini = await startGemini();
  const send = await begin(gemini, CHUNK_BYTES * 2);
  expect((await send(command, offset, body)).code).toBe(400);
  expect(await send('upload', 0, 'y'.repeat(CHUNK_BYTES))).toMatchObject({ code: 200, received: String(CHUNK_BYTES) });
});

test('forgets a cancelled upload, and knows no other', async () => {
  const gemini = await startGemini();
  const send = await begin(gemini, 3);
  expect(await send('cancel')).toMatchObject({ status: 'cancelled' });
  expect(await send('upload, finalize', 0, 'abc')).toMatchObject({ status: 'cancelled' });
  expect((await gemini.client.files.list()).page).toEqual([]);
  expect((await gemini.rest('POST', '/upload/v1beta/files?upload_id=none', 'x')).status).toBe(404);
});

test('drops a chunk midway by a fault, after which the same chunk is taken', async () => {
  const gemini = await startGemini();
  await gemini.control.faults({
    provider: 'gemini',
    route: 'files.upload.chunk',
    action: { cut: { after_bytes: 1000 } },
  });
  const send = await begin(gemini, 2 * CHUNK_BYTES);
  const body = 'z'.repeat(2 * CHUNK_BYTES);
  await expect(send('upload, finalize', 0, body)).rejects.toThrow();
  expect(await send('query')).toMatchObject({ received: '0' });
  expect(await send('upload, finalize', 0, body)).toMatchObject({ code: 200, status: 'final' });
});

test('lets the SDK send a chunk again that got no upload status', async () => {
  const gemini = await startGemini();
  await gemini.control.faults({
    provider: 'gemini',
    route: 'files.upload.chunk',
    action: { status_after: 200, body: {} },
  });
  const file = await gemini.client.files.upload({ file: new Blob(['once'], { type: 'text/plain' }) });
  expect(file.sizeBytes).toBe('4');
  expect(await gemini.control.journal({ route: 'files.upload.chunk' })).toHaveLength(2);
  expect((await gemini.client.files.list()).page).toHaveLength(1);
});
