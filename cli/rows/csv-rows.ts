import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CsvError, type InfoRecord, parse } from 'csv-parse';
import { inputError } from '../errors.ts';
import type { Row } from './row.ts';

/** The records of a CSV file (RFC 4180), by the names in its first line. Throws an input error that names the line. */
export async function* readCsvRows(
  bytes: AsyncIterable<Uint8Array>,
  file: string,
  delimiter: ',' | '\t',
): AsyncGenerator<Row> {
  const parser = parse({
    bom: true,
    delimiter,
    // Files put together from several have both.
    record_delimiter: ['\r\n', '\n'],
    skip_empty_lines: true,
    // Counted here, where the line is known.
    relax_column_count: true,
    info: true,
  });
  const feeding = pipeline(Readable.from(utf8(bytes, file)), parser);
  // The loop below meets the same error first.
  feeding.catch(() => undefined);
  let names: readonly string[] | undefined;
  let linesBefore = 0;
  let emptyBefore = 0;
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: InfoRecord }>) {
      const line = linesBefore + (info.empty_lines - emptyBefore) + 1;
      if (names === undefined) names = readHeader(record, file, line);
      else yield { line, value: toObject(record, names, file, line) };
      linesBefore = info.lines;
      emptyBefore = info.empty_lines;
    }
  } catch (error) {
    throw error instanceof CsvError ? csvFault(error, file) : error;
  }
}

function readHeader(names: readonly string[], file: string, line: number): readonly string[] {
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined)
    throw inputError(file, line, `two columns are named "${twice}"; give each a name of its own`);
  return names;
}

function toObject(record: readonly string[], names: readonly string[], file: string, line: number): Row['value'] {
  if (record.length !== names.length) {
    const hint = 'a value with a comma or a line break in it needs quotes';
    throw inputError(file, line, `${record.length} values for ${names.length} columns; ${hint}`);
  }
  return Object.fromEntries(names.map((name, index) => [name, record[index]]));
}

/** The parser itself would put replacement characters where the bytes are wrong. */
async function* utf8(bytes: AsyncIterable<Uint8Array>, file: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const chunk of bytes) yield decoder.decode(chunk, { stream: true });
    yield decoder.decode();
  } catch (error) {
    throw error instanceof TypeError ? inputError(file, null, 'not valid UTF-8; save the file as UTF-8') : error;
  }
}

function csvFault(error: CsvError, file: string): Error {
  const line = 'lines' in error && typeof error['lines'] === 'number' ? error['lines'] : null;
  if (error.code === 'CSV_QUOTE_NOT_CLOSED') return inputError(file, line, 'a quote is opened and never closed');
  if (error.code === 'INVALID_OPENING_QUOTE' || error.code === 'CSV_INVALID_CLOSING_QUOTE') {
    return inputError(file, line, 'a quote stands inside a value; double it and put the whole value in quotes');
  }
  return inputError(file, line, `not valid CSV (${error.message})`);
}
