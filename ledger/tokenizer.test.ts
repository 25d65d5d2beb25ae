import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { loadTokenCounter, TOKENIZER_LIBRARY } from './tokenizer.ts';

const O200K = { encoding: 'o200k_base', perHundred: 100, source: 'its own' } as const;

test.each([
  ['', 0],
  ['hello world', 2],
  ['The quick brown fox jumps over the lazy dog.', 10],
  ['<|endoftext|>', 7],
])('%j has %i tokens of o200k_base', async (text, tokens) => {
  expect((await loadTokenCounter(O200K)).countText(text)).toBe(tokens);
});

test('the vocabularies differ', async () => {
  const text = 'नमस्ते दुनिया';
  const older = await loadTokenCounter({ ...O200K, encoding: 'cl100k_base' });
  expect(older.countText(text)).toBeGreaterThan((await loadTokenCounter(O200K)).countText(text));
});

test('a ratio is applied to each text and rounded up', async () => {
  const { countText } = await loadTokenCounter({ ...O200K, perHundred: 130 });
  expect(countText('hello world')).toBe(3);
});

test('JSON is counted as it is written', async () => {
  const { countJson, countText } = await loadTokenCounter(O200K);
  expect(countJson({ a: [1, 'x'] })).toBe(countText('{"a":[1,"x"]}'));
  expect(countJson(undefined)).toBe(0);
});

test.each([
  ['letters', 'a'.repeat(200_000)],
  ['ideographs', '漢字仮名'.repeat(25_000)],
  ['spaces', ' '.repeat(200_000)],
  ['emoji', '😀'.repeat(50_000)],
])('a long run of %s takes no more than its share of time', async (_, text) => {
  const { countText } = await loadTokenCounter(O200K);
  const short = countText(text.slice(0, 20_000));
  const start = performance.now();
  const tokens = countText(text);
  expect(tokens / short).toBeCloseTo(text.length / 20_000, 0);
  // Without the cuts it would be minutes.
  expect(performance.now() - start).toBeLessThan(10_000);
});

test('the version shown is the one installed', async () => {
  const { version } = JSON.parse(await readFile('node_modules/gpt-tokenizer/package.json', 'utf8'));
  expect(TOKENIZER_LIBRARY).toBe(`gpt-tokenizer ${version}`);
});
