import { hash } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { encodeAttemptToken, encodeProviderItemId } from '../domain/attempt-token.ts';
import type { BatchProvider } from './provider.ts';
import { fixedAdapters } from './provider-adapters.ts';
import { ProviderError } from './provider-error.ts';
import { ItemReader } from './read-items.ts';
import type { ResultSource, WantedItem } from './result-cursor.ts';

const TOKEN = encodeAttemptToken(new Uint8Array(16).fill(7));

/** Lines of each file; `downloads` are those that were opened, and how many of their lines were sent. */
let files: Record<string, readonly string[]>;
let downloads: { file: string; lines: number }[];
let cutAfter: number;
beforeEach(() => {
  files = {};
  downloads = [];
  cutAfter = Number.POSITIVE_INFINITY;
});

const adapter = {
  provider: 'openai',
  resultFiles: ({ outputFileId }: { outputFileId: string | null }) =>
    outputFileId === null ? [] : [{ kind: 'output' as const, fileId: outputFileId }],
  async *downloadFile({ file }: { file: { fileId: string } }) {
    const download = { file: file.fileId, lines: 0 };
    downloads.push(download);
    for (const line of files[file.fileId] ?? []) {
      if (download.lines === cutAfter) {
        throw new ProviderError({ code: 'connection_lost', message: 'cut', isRetryable: true, mayHaveActed: false });
      }
      download.lines += 1;
      yield Buffer.from(`${line}\n`);
    }
  },
  decodeLine: (_endpoint: string, line: string) => {
    const { id, body } = JSON.parse(line) as { id: string; body: string };
    return { kind: 'result', providerItemId: id, result: { kind: 'completed', body, usage: null, model: null } };
  },
} as unknown as BatchProvider;

function sourceOf(file: string): ResultSource {
  const batch = { providerBatchId: 'b', nativeStatus: null, batchEnd: null, expiresAt: null, inputFileId: null };
  return {
    ...{ key: file, provider: 'openai', credentialId: 'gateway', endpoint: 'chat.completions', attemptToken: TOKEN },
    batch: { ...batch, outputFileId: file, errorFileId: null },
  };
}

const bodyOf = (itemNo: number) => JSON.stringify({ reply: `${itemNo}`.padEnd(90, '.') });
const lineOf = (itemNo: number) => JSON.stringify({ id: encodeProviderItemId(TOKEN, itemNo), body: bodyOf(itemNo) });
const wantedOf = (file: string, itemNo: number, line = itemNo): WantedItem => ({
  ...{ source: sourceOf(file), itemNo, file: 1, line },
  responseHash: Buffer.from(hash('sha256', bodyOf(itemNo)), 'hex'),
});
const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);
const newReader = () => new ItemReader(fixedAdapters(new Map([['openai', adapter]])));
const WIDE = { maxBytes: 1_000_000 };

test('goes through a file once, in as many pieces as the room for replies makes', async () => {
  files['a'] = numbers(1, 50).map(lineOf);
  const reader = newReader();
  const wanted = numbers(1, 50).map((itemNo) => wantedOf('a', itemNo));
  const bodies: string[] = [];
  let pieces = 0;
  while (bodies.length < wanted.length) {
    const replies = await reader.read(wanted.slice(bodies.length), { maxBytes: 1_000 });
    bodies.push(...replies.map((reply) => (reply.kind === 'read' ? reply.body : reply.kind)));
    pieces += 1;
    expect(replies.length).toBeLessThanOrEqual(10);
  }
  await reader.close();
  expect(bodies).toEqual(numbers(1, 50).map(bodyOf));
  expect(pieces).toBeGreaterThanOrEqual(5);
  expect(downloads).toEqual([{ file: 'a', lines: 50 }]);
});

test('reads no further than the last reply that is wanted', async () => {
  files['a'] = numbers(1, 50).map(lineOf);
  const reader = newReader();
  await reader.read([wantedOf('a', 3), wantedOf('a', 5)], WIDE);
  await reader.close();
  expect(downloads).toEqual([{ file: 'a', lines: 5 }]);
});

test('finds replies in any order, and goes back for one that was passed', async () => {
  files['a'] = numbers(1, 9).toReversed().map(lineOf);
  const reader = newReader();
  const replies = await reader.read(
    numbers(1, 9).map((itemNo) => wantedOf('a', itemNo)),
    WIDE,
  );
  expect(replies.map(({ kind }) => kind)).toEqual(Array(9).fill('read'));
  expect(await reader.read([wantedOf('a', 9)], WIDE)).toEqual([{ kind: 'read', body: bodyOf(9) }]);
  await reader.close();
});

test('one whose line comes after more than fits is still answered', async () => {
  files['a'] = [2, 3, 4, 5, 1].map(lineOf);
  const reader = newReader();
  const wanted = numbers(1, 5).map((itemNo) => wantedOf('a', itemNo));
  expect(await reader.read(wanted, { maxBytes: 250 })).toEqual([{ kind: 'read', body: bodyOf(1) }]);
  await reader.close();
});

test('a connection that broke is opened once more where it had gone on, and not for ever', async () => {
  files['a'] = numbers(1, 9).map(lineOf);
  const reader = newReader();
  cutAfter = 4;
  expect(await reader.read([wantedOf('a', 1), wantedOf('a', 3)], WIDE)).toHaveLength(2);
  const [reply] = await reader.read([wantedOf('a', 8)], WIDE);
  expect(reply).toEqual({ kind: 'unavailable' });
  expect(downloads).toHaveLength(2);
  expect(await reader.read([wantedOf('a', 9)], WIDE)).toEqual([{ kind: 'unavailable' }]);
  expect(downloads).toHaveLength(2);
  await reader.close();
});

test('replies of several files keep their order, and few files are open at once', async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  for (const name of names) files[name] = numbers(1, 3).map(lineOf);
  const reader = newReader();
  const wanted = [1, 2, 3].flatMap((itemNo) => names.map((name) => wantedOf(name, itemNo)));
  const replies = await reader.read(wanted, WIDE);
  expect(replies.map((reply) => (reply.kind === 'read' ? reply.body : null))).toEqual(
    wanted.map(({ itemNo }) => bodyOf(itemNo)),
  );
  await reader.close();
});

test('a provider without an adapter, and a batch without a file, give nothing', async () => {
  const reader = newReader();
  const gone = { ...wantedOf('a', 1), source: { ...sourceOf('a'), key: 'x', provider: 'gone' as const } } as WantedItem;
  expect(await reader.read([gone], WIDE)).toEqual([{ kind: 'unavailable' }]);
  expect(await reader.read([{ ...wantedOf('a', 1), file: 2 }], WIDE)).toEqual([{ kind: 'lost' }]);
});
