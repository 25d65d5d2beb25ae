import { inputError } from '../errors.ts';
import type { Row } from './row.ts';
import { readTextLines } from './text-lines.ts';

/** The objects of a JSON Lines file, one a line; blank lines are none. Throws an input error that names the line. */
export async function* readJsonRows(bytes: AsyncIterable<Uint8Array>, file: string): AsyncGenerator<Row> {
  for await (const { line, text } of readTextLines(bytes, file)) {
    if (text.trim() === '') continue;
    yield { line, text, value: parseObject(text, file, line) };
  }
}

function parseObject(text: string, file: string, line: number): Row['value'] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw inputError(file, line, text.trimStart().startsWith('[') ? IS_ARRAY : `not valid JSON (${reasonOf(error)})`);
  }
  if (Array.isArray(value)) throw inputError(file, line, IS_ARRAY);
  if (typeof value !== 'object' || value === null) {
    throw inputError(
      file,
      line,
      `a JSON object is needed on each line, this is ${JSON.stringify(value)?.slice(0, 40)}`,
    );
  }
  return value as Row['value'];
}

const IS_ARRAY = 'this is a JSON array; put one object on each line (jq -c ".[]" does that)';

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message.slice(0, 120) : String(error);
}
