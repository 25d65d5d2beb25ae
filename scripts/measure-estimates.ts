/**
 * Measures how far estimates of input tokens are from a tokenizer's count: the count every item has from its append, and
 * that count calibrated by a sample. Writes the table of docs/estimates.md to stdout.
 *
 *     node scripts/measure-estimates.ts [questions.jsonl]
 *
 * The file has a JSON object with a `question` on each line.
 */
import { readFile } from 'node:fs/promises';
import { isJsonObject } from '../domain/json-object.ts';
import { measureError } from '../ledger/testing/estimate-error.ts';
import { TEXT_KINDS } from '../ledger/testing/sample-texts.ts';

const TEXTS_OF_A_KIND = 2_000;
const ENCODINGS = ['o200k_base', 'cl100k_base'] as const;

async function readQuestions(path: string): Promise<string[]> {
  const lines = (await readFile(path, 'utf8')).split('\n').filter((line) => line !== '');
  return lines.map((line) => {
    const parsed: unknown = JSON.parse(line);
    if (!isJsonObject(parsed) || typeof parsed['question'] !== 'string') throw new Error('a line without a question');
    return parsed['question'];
  });
}

const kinds = TEXT_KINDS.map(({ name, write }) => ({
  name,
  texts: Array.from({ length: TEXTS_OF_A_KIND }, (_, number) => write(number)),
}));
const [path] = process.argv.slice(2);
const data = path === undefined ? [] : [{ name: 'GSM8K questions', texts: await readQuestions(path) }];

console.log('| texts | encoding | items | tokens | counted | calibrated | worst item |');
console.log('| --- | --- | ---: | ---: | ---: | ---: | ---: |');
for (const { name, texts } of [...data, ...kinds]) {
  for (const encoding of ENCODINGS) {
    const { tokens, counted, calibrated, worstItem } = await measureError(texts, encoding);
    const cells = [
      name,
      encoding,
      texts.length,
      tokens.toLocaleString('en'),
      percent(counted),
      percent(calibrated),
      percent(worstItem),
    ];
    console.log(`| ${cells.join(' | ')} |`);
  }
}

function percent(error: number): string {
  return `${error < 0 ? '−' : '+'}${Math.abs(error * 100).toFixed(1)} %`;
}
