import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import type { DocumentLimits } from '../domain/document-facts.ts';
import { DEFAULT_THREAD_BOUNDS } from './document-threads.ts';
import { PdfTextReader } from './pdf-text-reader.ts';
import { Recogniser } from './recogniser.ts';
import { activePdf, bombPdf, samplePdf } from './testing/sample-files.ts';

const LIMITS: DocumentLimits = { maxBytes: 1_000_000, maxPages: 3, maxPixels: 1_000 };
const MIB = 1024 * 1024;

const fileOf = (bytes: Uint8Array) => ({
  byteLength: bytes.length,
  read: async function* () {
    yield bytes.subarray(0, 10);
    yield bytes.subarray(10);
  },
});

test('files are read whole, one after the other where there are more than threads', async () => {
  const recogniser = new Recogniser({ ...DEFAULT_THREAD_BOUNDS, threads: 1 });
  const files = [await samplePdf(), Buffer.from('a,b\n1,2\n'), Buffer.from('some text')];
  const found = await Promise.all(files.map((file) => recogniser.recognise(fileOf(file), LIMITS)));
  expect(found.map((each) => (each.kind === 'document' ? each.facts.mediaType : each.fault))).toEqual([
    'application/pdf',
    'text/csv',
    'text/plain',
  ]);
});

test('a small PDF that unpacks to more than the bounds is refused before it takes as much, and the next one is read', async () => {
  const bounds = { ...DEFAULT_THREAD_BOUNDS, threads: 1, memoryBytes: 64 * MIB };
  const recogniser = new Recogniser(bounds);
  const bomb = await bombPdf(100 * MIB);
  expect(bomb.length).toBeLessThan(MIB);
  const before = process.memoryUsage.rss();
  expect(await recogniser.recognise(fileOf(bomb), LIMITS)).toEqual({ kind: 'fault', fault: 'costly' });
  expect(process.memoryUsage.rss() - before).toBeLessThan(100 * MIB);
  expect(await recogniser.recognise(fileOf(await samplePdf()), LIMITS)).toMatchObject({ kind: 'document' });
});

test('a file that keeps a thread busy for too long is refused', async () => {
  const recogniser = new Recogniser({ ...DEFAULT_THREAD_BOUNDS, threads: 1, timeoutMs: 1 });
  const file = fileOf(await samplePdf());
  expect(await recogniser.recognise(file, LIMITS)).toEqual({ kind: 'fault', fault: 'costly' });
});

test('what reading the file throws is passed on, and the turn given back', async () => {
  const recogniser = new Recogniser({ ...DEFAULT_THREAD_BOUNDS, threads: 1 });
  const broken = {
    byteLength: 1,
    // biome-ignore lint/correctness/useYield: it fails before there is anything
    read: async function* (): AsyncGenerator<Uint8Array> {
      throw new Error('disk');
    },
  };
  await expect(recogniser.recognise(broken, LIMITS)).rejects.toThrow('disk');
  expect(await recogniser.recognise(fileOf(Buffer.from('text')), LIMITS)).toMatchObject({ kind: 'document' });
});

test('the text of a PDF is read within the same bounds', async () => {
  const reader = new PdfTextReader({ ...DEFAULT_THREAD_BOUNDS, threads: 1, memoryBytes: 64 * MIB });
  const text = await reader.read(await samplePdf());
  expect(text).toContain('[page 1]');
  const before = process.memoryUsage.rss();
  expect(await reader.read(await bombPdf(100 * MIB))).toBeNull();
  expect(process.memoryUsage.rss() - before).toBeLessThan(100 * MIB);
  expect(await reader.read(await samplePdf())).toBe(text);
});

test('a PDF with scripts, actions and files elsewhere is read without any of them', async () => {
  const asked: (string | undefined)[] = [];
  const server = createServer(({ url }, response) => {
    asked.push(url);
    response.end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    const pdf = await activePdf(`http://127.0.0.1:${port}`);
    const found = await new Recogniser().recognise(fileOf(pdf), LIMITS);
    expect(found).toMatchObject({ kind: 'document', facts: { mediaType: 'application/pdf', pages: 1 } });
    expect(await new PdfTextReader().read(pdf)).toContain('Invoice 4711');
    expect(asked).toEqual([]);
  } finally {
    server.close();
  }
});

test('a PDF that the parser stumbles over has no text, and costs no more than itself', async () => {
  const reader = new PdfTextReader({ ...DEFAULT_THREAD_BOUNDS, threads: 1 });
  expect(await reader.read((await samplePdf()).subarray(0, 300))).toBeNull();
  expect(await reader.read(await samplePdf())).toContain('[page 1]');
});
