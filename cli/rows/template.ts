import { inputError, usageError } from '../errors.ts';
import type { Row } from './row.ts';

/** Text with the columns of a row in it. */
export interface Template {
  /** The text for one row. Throws an input error for a column that the row does not have. */
  fill(row: Row, file: string): string;
}

const PLACE = /\{\{(.*?)\}\}/gs;

/** Reads `…{{column}}…`. Throws a usage error for one that is not whole or names no column. */
export function parseTemplate(text: string, option = '--template'): Template {
  const columns = [...text.matchAll(PLACE)].map(([, name = '']) => name.trim());
  if (columns.includes('')) throw usageError(`${option} has a place without a name: {{}}.`, option);
  const rest = text.replaceAll(PLACE, '');
  if (rest.includes('{{')) throw usageError(`${option} opens {{ and does not close it with }}.`, option);
  if (columns.length === 0) {
    throw usageError(
      `${option} names no column, so every row would ask the same. Put {{column}} where a value belongs.`,
      option,
    );
  }
  return {
    // The values are not looked at for places of their own.
    fill: (row, file) => text.replaceAll(PLACE, (_place, name: string) => memberText(row, name.trim(), file)),
  };
}

function memberText({ line, value }: Row, name: string, file: string): string {
  if (!Object.hasOwn(value, name)) {
    const known = Object.keys(value).slice(0, 20).join(', ');
    throw inputError(file, line, `no column "${name}" for the template; this row has ${known || 'none'}`);
  }
  const member = value[name];
  if (typeof member === 'string') return member;
  return member === null || member === undefined ? '' : JSON.stringify(member);
}
