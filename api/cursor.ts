import { z } from 'zod';
import { GatewayError } from '../domain/gateway-error.ts';

/** An opaque cursor: a list's name and where its page ended. Not a secret, and never trusted beyond its shape. */
export function encodeCursor(list: string, position: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify([list, ...position])).toString('base64url');
}

/** Null where none was given. Throws `invalid_cursor` for what this list did not give out. */
export function decodeCursor<Items extends readonly [z.ZodType, ...z.ZodType[]]>(
  list: string,
  items: Items,
  cursor: string | undefined,
): { -readonly [Index in keyof Items]: z.output<Items[Index]> } | null {
  if (cursor === undefined) return null;
  const result = z.tuple([z.literal(list), ...items]).safeParse(readJson(cursor));
  if (!result.success) {
    throw new GatewayError('invalid_cursor', 'Pass a cursor on exactly as an answer of this list gave it.', {
      field: 'cursor',
    });
  }
  const [, ...position] = result.data;
  return position as { -readonly [Index in keyof Items]: z.output<Items[Index]> };
}

function readJson(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    return null;
  }
}

/** A whole number that a Postgres integer holds. */
export const CursorInteger = z.int().min(-1).max(2_147_483_647);

/** An id of ours, stored as its text. */
export const CursorId = z.string().regex(/^[a-z]+_[0-9a-z]{26}$/);
