import type { TokenCounter } from '../domain/token-counter.ts';
import type { Encoding, Tokenizer } from '../domain/tokenizer.ts';

/** What counts, as it is shown with an estimate. */
export const TOKENIZER_LIBRARY = 'gpt-tokenizer 4.0.0';

/** Words whose tokens the library keeps. Its own default keeps ten times as many. */
const MAX_KEPT_WORDS = 10_000;
/** The library takes time by the square of a run without a break: long ones are cut, which adds a token at most each. */
const LONG_RUN = /\S{200}|\s{200}/gu;
/** What looks like a control token is text. */
const AS_TEXT = { disallowedSpecial: new Set<string>() };

type CountTokens = (text: string) => number;

/** Some ten megabytes each, so loaded when the first sample is counted, and kept. */
const loaded = new Map<Encoding, CountTokens>();

/** Counts tokens as the models of a tokenizer do, their ratio included, rounded up for each text. */
export async function loadTokenCounter({ encoding, perHundred }: Tokenizer): Promise<TokenCounter> {
  const count = loaded.get(encoding) ?? (await load(encoding));
  loaded.set(encoding, count);
  const countText = (text: string) => Math.ceil((count(text) * perHundred) / 100);
  return { countText, countJson: (value) => countText(JSON.stringify(value) ?? '') };
}

async function load(encoding: Encoding): Promise<CountTokens> {
  const { countTokens, setMergeCacheSize } =
    encoding === 'cl100k_base'
      ? await import('gpt-tokenizer/encoding/cl100k_base')
      : await import('gpt-tokenizer/encoding/o200k_base');
  setMergeCacheSize(MAX_KEPT_WORDS);
  return (text) => {
    let tokens = 0;
    let start = 0;
    for (const run of text.matchAll(LONG_RUN)) {
      const end = run.index + run[0].length;
      tokens += countTokens(text.slice(start, end), AS_TEXT);
      start = end;
    }
    return tokens + countTokens(text.slice(start), AS_TEXT);
  };
}
