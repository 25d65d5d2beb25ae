import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { CommandError, inputError } from '../errors.ts';
import { readCsvRows } from './csv-rows.ts';
import { readJsonRows } from './json-rows.ts';
import type { Row } from './row.ts';

/** Rows of an input file, read as they are asked for. */
export interface RowFile {
  /** As messages name it. */
  readonly file: string;
  /** Null where there is no row at all. */
  readonly first: Row | null;
  /** Every row, the first included. To be read once. */
  readonly rows: AsyncGenerator<Row>;
}

/**
 * Opens a CSV, TSV or JSON Lines file (`-`: standard input) and reads its first row. The name's ending tells which it is,
 * else the first character. Throws an input error.
 */
export async function openRowFile(path: string, standardInput: AsyncIterable<Uint8Array>): Promise<RowFile> {
  const file = path === '-' ? 'standard input' : path;
  const bytes = await withFirstChunk(path === '-' ? standardInput : readFile(path));
  const kind = kindOf(path, bytes.first);
  const rows =
    kind === 'json' ? readJsonRows(bytes.all, file) : readCsvRows(bytes.all, file, kind === 'tsv' ? '\t' : ',');
  const first = await rows.next();
  const row = first.done === true ? null : first.value;
  return { file, first: row, rows: prepended(row, rows) };
}

async function* readFile(path: string): AsyncGenerator<Uint8Array> {
  try {
    if ((await stat(path)).isDirectory()) throw inputError(path, null, 'this is a folder, not a file');
    yield* createReadStream(path);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const code = error instanceof Error && 'code' in error ? error.code : null;
    throw inputError(
      path,
      null,
      code === 'ENOENT' ? 'there is no such file' : `cannot be read (${String(code ?? error)})`,
    );
  }
}

function kindOf(path: string, start: Uint8Array): 'json' | 'csv' | 'tsv' {
  if (/\.(jsonl|ndjson|json)$/i.test(path)) return 'json';
  if (/\.csv$/i.test(path)) return 'csv';
  if (/\.(tsv|tab)$/i.test(path)) return 'tsv';
  return /^[{[]/.test(new TextDecoder().decode(start.subarray(0, 1024)).trimStart()) ? 'json' : 'csv';
}

async function withFirstChunk(
  bytes: AsyncIterable<Uint8Array>,
): Promise<{ first: Uint8Array; all: AsyncGenerator<Uint8Array> }> {
  const chunks = bytes[Symbol.asyncIterator]();
  const { done, value } = await chunks.next();
  const first = done === true ? new Uint8Array() : value;
  return { first, all: prepended(first, { [Symbol.asyncIterator]: () => chunks }) };
}

async function* prepended<T>(first: T | null, rest: AsyncIterable<T>): AsyncGenerator<T> {
  if (first !== null) yield first;
  yield* rest;
}
