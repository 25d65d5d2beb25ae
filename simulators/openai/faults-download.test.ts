import { expect, test } from 'vitest';
import type { FaultAction } from '../fault-actions.ts';
import { chatLines, fileText, prompts, reached, startOpenAi, submit } from './testing/harness.ts';

async function finished(count = 4) {
  const { client, control } = await startOpenAi();
  const batch = await reached(client, (await submit(client, chatLines(prompts(count)))).id);
  const id = batch.output_file_id ?? '';
  const whole = await fileText(client, id);
  const fault = (action: FaultAction, times = 1) =>
    control.faults({ provider: 'openai', route: 'files.content', times, match: { kind: 'output' }, action });
  return { client, control, id, whole, fault };
}

async function chunksOf(response: Response): Promise<Uint8Array[]> {
  return Array.fromAsync(response.body ?? []);
}

test('cuts a download after some bytes, once', async () => {
  const { client, id, whole, fault } = await finished();
  await fault({ cut: { after_bytes: 700 } });
  const response = await client.files.content(id);
  let received = '';
  const reading = (async () => {
    for await (const chunk of response.body ?? []) received += Buffer.from(chunk).toString();
  })();
  await expect(reading).rejects.toThrow();
  expect(received).toBe(whole.slice(0, 700));
  expect(await fileText(client, id)).toBe(whole);
});

test('ends a download early as if it were whole', async () => {
  const { client, id, whole, fault } = await finished();
  await fault({ truncate: { after_bytes: 700 } });
  expect(await fileText(client, id)).toBe(whole.slice(0, 700));
});

test('stalls a download until the clock is moved', async () => {
  const { client, control, id, whole, fault } = await finished();
  await fault({ stall: { after_bytes: 500, ms: 3_600_000 } });
  const response = await client.files.content(id);
  const reader = response.body?.getReader();
  let received = 0;
  while (received < 500) received += (await reader?.read())?.value?.length ?? 0;
  expect(received).toBe(500);
  const next = reader?.read();
  await control.advance(3_600_000);
  expect((await next)?.value?.length).toBe(Buffer.byteLength(whole) - 500);
});

test.for([1, 64])('serves CRLF line ends in chunks of %i bytes', async (chunkBytes) => {
  const { client, id, whole, fault } = await finished();
  await fault({ crlf: true, chunk_bytes: chunkBytes });
  const chunks = await chunksOf(await client.files.content(id));
  expect(Math.max(...chunks.map((chunk) => chunk.length))).toBeLessThanOrEqual(chunkBytes);
  expect(Buffer.concat(chunks).toString()).toBe(whole.replaceAll('\n', '\r\n'));
});

test('leaves lines out of one download and not of the next', async () => {
  const { client, id, whole, fault } = await finished();
  await fault({ omit_lines: { index: [1, 2] } });
  const lines = whole.split('\n');
  expect(await fileText(client, id)).toBe([lines[0], lines[3], ''].join('\n'));
  expect(await fileText(client, id)).toBe(whole);
});

test('breaks off in the middle of the last line', async () => {
  const { client, id, whole, fault } = await finished();
  await fault({ half_last_line: true, append_raw_lines: ['0123456789'] });
  expect(await fileText(client, id)).toBe(`${whole}012345`);
});

test('answers 404 for a result file twice and then the file', async () => {
  const { client, id, whole, fault } = await finished();
  await fault({ not_found: true }, 2);
  for (const call of [client.files.content(id), client.files.content(id)]) {
    await expect(call).rejects.toMatchObject({ status: 404 });
  }
  expect(await fileText(client, id)).toBe(whole);
});

test('shows in the journal when a reader has let go of a download', async () => {
  const { client, control, id, fault } = await finished();
  await fault({ stall: { after_bytes: 500, ms: 3_600_000 } });
  const aborting = new AbortController();
  await client.files.content(id, { signal: aborting.signal });
  const downloads = async () => (await control.journal({ route: 'files.content' })).map((entry) => entry.ended_at);
  expect((await downloads()).at(-1)).toBeNull();
  aborting.abort();
  await expect.poll(downloads).not.toContain(null);
});
