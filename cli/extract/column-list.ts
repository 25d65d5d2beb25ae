import type { z } from 'zod';
import { DocumentColumnsInput } from '../../contracts/document-columns.ts';
import type { Context } from '../command.ts';
import { inputError, usageError } from '../errors.ts';
import { readJsonFile } from '../json-file.ts';
import { oneOf } from '../option-values.ts';

export type ColumnList = z.input<typeof DocumentColumnsInput>;

const TYPES = DocumentColumnsInput.element.shape.type.unwrap().options;

/**
 * `name[:type][!]`, parted by commas, where `!` makes a column required; or `@FILE`, a JSON file with the columns as POST process
 * takes them. Throws a usage error that names the column.
 */
export async function readColumnList(given: string, context: Pick<Context, 'standardInput'>): Promise<ColumnList> {
  if (!given.startsWith('@')) return check(given.split(',').map(readColumn), usageErrorOf);
  const path = given.slice(1);
  const content = await readJsonFile(path, context);
  return check(columnsIn(content), (message) => inputError(path, null, message));
}

function readColumn(text: string): unknown {
  const [, name = '', type, required] = /^\s*(.*?)\s*(?::\s*([^:]*?)\s*)?(!)?\s*$/.exec(text) ?? [];
  return {
    name,
    ...(type !== undefined && { type: oneOf('--columns: the type', type, TYPES) }),
    ...(required !== undefined && { required: true }),
  };
}

/** Also the body of a call, or what a run was answered, may be given as it is. */
function columnsIn(content: unknown): unknown {
  const isWrapped = typeof content === 'object' && content !== null && 'columns' in content;
  return isWrapped ? content.columns : content;
}

function check(columns: unknown, toError: (message: string) => Error): ColumnList {
  const parsed = DocumentColumnsInput.safeParse(columns);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const [index, ...rest] = issue?.path ?? [];
  const place = typeof index === 'number' ? `column ${index + 1}` : 'the columns';
  const member = rest.length === 0 ? '' : `, ${rest.map(String).join('.')}`;
  throw toError(`${place}${member}: ${issue?.message ?? 'not understood'}`);
}

function usageErrorOf(message: string): Error {
  return usageError(`--columns, ${message}. Write them like "date:date,vendor!,total:currency".`, '--columns');
}
