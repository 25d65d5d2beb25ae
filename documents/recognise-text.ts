import { parse } from 'csv-parse/sync';
import type { DocumentFault, Recognition } from '../domain/document-facts.ts';
import { estimateTextTokens } from '../domain/text-tokens.ts';
import { decodeText } from './decode-text.ts';

const DELIMITERS = [',', ';', '\t', '|'];
/** Enough of a table to know it for one. */
const SAMPLE_CHARS = 256 * 1024;
const SAMPLE_RECORDS = 1_000;

/** A text in UTF-8 or UTF-16: a table where its records have the same two columns or more, else plain. */
export function recogniseText(bytes: Uint8Array): Recognition {
  const text = decodeText(bytes);
  if (text === null) return faulty('unsupported');
  if (text.trim() === '') return faulty('empty');
  const mediaType = isTable(text) ? 'text/csv' : 'text/plain';
  const textTokens = estimateTextTokens(text);
  return { kind: 'document', facts: { mediaType, pages: null, textTokens, width: null, height: null } };
}

function isTable(text: string): boolean {
  const sample = text.slice(0, SAMPLE_CHARS);
  return DELIMITERS.some((delimiter) => sample.includes(delimiter) && isTableOf(sample, delimiter, text.length));
}

function isTableOf(sample: string, delimiter: string, wholeChars: number): boolean {
  const widths: number[] = [];
  const isCut = sample.length < wholeChars;
  try {
    parse(sample, {
      delimiter,
      to: SAMPLE_RECORDS,
      relax_column_count: true,
      skip_empty_lines: true,
      on_record: (record: readonly string[]) => {
        widths.push(record.length);
        return null;
      },
    });
  } catch {
    // A sample may end inside of quotes.
    if (!isCut) return false;
  }
  // The last record of a sample may be a part of one.
  const whole = isCut && widths.length < SAMPLE_RECORDS ? widths.slice(0, -1) : widths;
  const [width = 0] = whole;
  return whole.length > 1 && width > 1 && whole.every((each) => each === width);
}

function faulty(fault: DocumentFault): Recognition {
  return { kind: 'fault', fault };
}
