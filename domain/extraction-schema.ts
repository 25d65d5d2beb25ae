import type { ColumnType, DocumentColumn } from './document.ts';
import type { JsonObject } from './json-object.ts';

/** The member that holds the rows, and what each row says of its place besides its columns. */
export const ROWS_MEMBER = 'rows';
export const PAGE_MEMBER = 'page_number';
export const CONFIDENCE_MEMBER = 'confidence_score';

/** Anthropic's rule for names in a schema is `^[a-zA-Z0-9_.-]{1,64}$`; a short one costs less in every row. */
const MAX_KEY_LENGTH = 40;

/** How each type of column is to be written, so that it can be read exactly. */
const HOW_WRITTEN: { readonly [type in ColumnType]: string } = {
  text: 'Text exactly as it stands in the document.',
  number: 'A number in digits, with a point before decimals and without separators between thousands, such as -1234.5.',
  date: 'A date as YYYY-MM-DD.',
  boolean: 'true or false.',
  currency:
    'An amount in digits, with a point before decimals and without separators between thousands or a currency, such as 1234.50.',
};

/** A column with the name it has in the schema and in a model's reply. */
export interface KeyedColumn extends DocumentColumn {
  readonly key: string;
}

/**
 * The columns with a key each: of ASCII letters, digits and `_` made of the name, unique among all members of a row. The
 * same columns always get the same keys.
 */
export function keyColumns(columns: readonly DocumentColumn[]): readonly KeyedColumn[] {
  const taken = new Set<string>([PAGE_MEMBER, CONFIDENCE_MEMBER]);
  return columns.map((column) => {
    const wanted = keyOf(column.name);
    let key = wanted;
    for (let count = 2; taken.has(key); count += 1) key = `${wanted}_${count}`;
    taken.add(key);
    return { ...column, key };
  });
}

function keyOf(name: string): string {
  const ascii = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_');
  const key = ascii.slice(0, MAX_KEY_LENGTH).replace(/^_+|_+$/g, '');
  return /^[a-z]/.test(key) ? key : `column_${key}`.replace(/_$/, '');
}

/**
 * The JSON schema of a model's reply: `{rows: [{<key>…, page_number, confidence_score}]}`.
 *
 * It keeps to what the structured output of every provider compiles: every member required, no others, no bounds and no
 * patterns. What is not in the document is an empty text and not null: Anthropic allows 16 members of more than one type in
 * a schema. All values are texts, so that no digit of a number is lost on its way, and are read by the type of their column.
 */
export function extractionSchema(columns: readonly DocumentColumn[]): JsonObject {
  const members: { [key: string]: JsonObject } = {};
  for (const column of keyColumns(columns)) {
    members[column.key] = { type: 'string', title: column.name, description: describeColumn(column) };
  }
  members[PAGE_MEMBER] = {
    type: 'integer',
    description: 'The page of the document on which the row begins, counted from 1; 0 where it has no pages.',
  };
  members[CONFIDENCE_MEMBER] = {
    type: 'number',
    description: 'From 0 to 1: how sure it is that every value of the row is right.',
  };
  const row = strictObject(members);
  return strictObject({
    [ROWS_MEMBER]: { type: 'array', description: 'One entry for each row, in the order of the document.', items: row },
  });
}

/** What the column is, in one line. */
export function describeColumn({ description, type, required }: DocumentColumn): string {
  const absent = required ? 'Every row has it.' : 'Empty where the document does not have it.';
  return [description, HOW_WRITTEN[type], absent].filter((part) => part !== null).join(' ');
}

function strictObject(properties: { readonly [name: string]: JsonObject }): JsonObject {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}
