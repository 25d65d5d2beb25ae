import { z } from 'zod';

const MAX_PAGE_SIZE = 1000;
const DEFAULT_PAGE_SIZE = 100;

const Limit = z
  .string()
  .regex(/^[0-9]{1,6}$/, 'must be a whole number')
  .transform(Number)
  .pipe(z.int().min(1).max(MAX_PAGE_SIZE))
  .default(DEFAULT_PAGE_SIZE)
  .meta({ description: `Rows in a page, 1 to ${MAX_PAGE_SIZE}.` });

const Cursor = z
  .string()
  .min(1)
  .max(600)
  .optional()
  .meta({ description: '`next_cursor` of the page before. Opaque: only ever pass on what was given.' });

/** Query parameters of every list. */
export const PageQuery = { cursor: Cursor, limit: Limit };

export const NextCursor = z
  .string()
  .nullable()
  .meta({ description: 'Where the next page starts; null when there is no next page.' });
