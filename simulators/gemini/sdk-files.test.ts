import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { AT_ONCE, type Gemini, lines, reached, startGemini, submit } from './testing/harness.ts';

const MIB = 1024 * 1024;
const HOUR_MS = 3_600_000;

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'gemini-files-'));
  onTestFinished(() => rm(path, { recursive: true }));
  return path;
}

const chunkFacts = async ({ control }: Gemini) =>
  (await control.journal({ route: 'files.upload.chunk' })).map(({ facts }) => [facts['offset'], facts['lines']]);

test('takes a Blob of more than one chunk and shows it as the SDK types have it', async () => {
  const gemini = await startGemini();
  const text = `${'x'.repeat(1023)}\n`.repeat(9 * 1024);
  const file = await gemini.client.files.upload({
    file: new Blob([text], { type: 'application/jsonl' }),
    config: { displayName: 'nine mebibytes' },
  });
  expect(file).toMatchObject({
    name: expect.stringMatching(/^files\/[a-z0-9]{12}$/),
    displayName: 'nine mebibytes',
    mimeType: 'application/jsonl',
    sizeBytes: String(9 * MIB),
    state: 'ACTIVE',
    source: 'UPLOADED',
    sha256Hash: Buffer.from(createHash('sha256').update(text).digest('hex')).toString('base64'),
    uri: `${gemini.url}/v1beta/${file.name}`,
  });
  expect(Date.parse(file.expirationTime ?? '') - Date.parse(file.createTime ?? '')).toBe(48 * HOUR_MS);
  expect(await chunkFacts(gemini)).toEqual([
    [0, undefined],
    [8 * MIB, 9 * 1024],
  ]);
  expect(await gemini.client.files.get({ name: file.name ?? '' })).toEqual(file);
});

test('takes a file by its path, under a name of the caller', async () => {
  const gemini = await startGemini();
  const path = join(await folder(), 'input.jsonl');
  await writeFile(path, 'y'.repeat(8 * MIB + 5));
  const file = await gemini.client.files.upload({
    file: path,
    config: { name: 'my-input', mimeType: 'application/jsonl' },
  });
  expect(file).toMatchObject({ name: 'files/my-input', sizeBytes: String(8 * MIB + 5) });
  const again = gemini.client.files.upload({ file: path, config: { name: 'my-input', mimeType: 'application/jsonl' } });
  await expect(again).rejects.toMatchObject({ status: 409 });
});

test.for(['Upper', 'a'.repeat(41), '-begins'])('refuses the file name %s', async (name) => {
  const gemini = await startGemini();
  const file = new Blob(['x'], { type: 'text/plain' });
  await expect(gemini.client.files.upload({ file, config: { name } })).rejects.toMatchObject({ status: 400 });
});

test('refuses a file that is too large before any byte of it', async () => {
  const gemini = await startGemini({ ...AT_ONCE, maxFileBytes: 10 });
  const file = new Blob(['x'.repeat(11)], { type: 'text/plain' });
  await expect(gemini.client.files.upload({ file })).rejects.toMatchObject({ status: 400 });
  expect(await chunkFacts(gemini)).toEqual([]);
});

test('lists files by pages, deletes them, and forgets them when they expire', async () => {
  const gemini = await startGemini({ ...AT_ONCE, fileLifeMs: HOUR_MS });
  const { client } = gemini;
  const names: string[] = [];
  for (const text of ['a', 'b', 'c']) {
    names.push((await client.files.upload({ file: new Blob([text], { type: 'text/plain' }) })).name ?? '');
  }
  const pager = await client.files.list({ config: { pageSize: 2 } });
  const listed = await Array.fromAsync(pager, ({ name }) => name);
  expect(listed).toEqual(names.toReversed());
  await client.files.delete({ name: names[0] ?? '' });
  await expect(client.files.get({ name: names[0] ?? '' })).rejects.toMatchObject({ status: 404 });
  await gemini.control.advance(HOUR_MS);
  await expect(client.files.get({ name: names[1] ?? '' })).rejects.toMatchObject({ status: 404 });
  expect((await client.files.list()).page).toEqual([]);
  await gemini.control.settings({ gemini: { missingFileStatus: 403 } });
  await expect(client.files.get({ name: names[1] ?? '' })).rejects.toMatchObject({ status: 403 });
});

test('downloads the output of a batch on both paths until it expires, and no uploaded file', async () => {
  const gemini = await startGemini({ ...AT_ONCE, outputFileLifeMs: HOUR_MS });
  const { client, rest } = gemini;
  const name = await submit(gemini, lines(['a', 'b']));
  const output = (await reached(gemini, name)).response?.responsesFile ?? '';
  const downloadPath = join(await folder(), 'output.jsonl');
  await client.files.download({ file: output, downloadPath });
  const text = await readFile(downloadPath, 'utf8');
  expect(text.trimEnd().split('\n')).toHaveLength(2);
  expect((await rest('GET', `/download/v1beta/${output}:download?alt=media`)).text).toBe(text);
  expect(await client.files.get({ name: output })).toMatchObject({
    source: 'GENERATED',
    downloadUri: expect.stringContaining(`${output}:download`),
  });
  const [uploaded] = (await client.files.list()).page;
  expect((await client.files.list()).page).toHaveLength(1);
  expect((await rest('GET', `/v1beta/${uploaded?.name}:download?alt=media`)).status).toBe(400);
  await gemini.control.advance(HOUR_MS);
  expect((await rest('GET', `/v1beta/${output}:download?alt=media`)).status).toBe(404);
});
