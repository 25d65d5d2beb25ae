import { z } from 'zod';

/** C0 controls, DEL and C1 controls, line breaks included. */
const CONTROL = /\p{Cc}/u;

/**
 * Text for a person or an id: well-formed Unicode without control characters, at least one and at most `maxLength`
 * UTF-16 units, not only white space. Kept exactly as given.
 */
export function plainText(maxLength: number) {
  return z
    .string()
    .min(1)
    .max(maxLength)
    .refine((text) => text.isWellFormed() && !CONTROL.test(text), 'must be well-formed text without control characters')
    .refine((text) => text.trim() !== '', 'must not be only white space');
}

/** A list in which nothing is twice, told apart by `keyOf`; not empty unless `min` is 0. */
export function uniqueList<Schema extends z.ZodType>(
  element: Schema,
  {
    max,
    min = 1,
    keyOf = String,
  }: { readonly max: number; readonly min?: number; readonly keyOf?: (value: z.output<Schema>) => string },
) {
  return z
    .array(element)
    .min(min)
    .max(max)
    .superRefine((values, context) => {
      const keys = values.map(keyOf);
      for (const [index, key] of keys.entries()) {
        const first = keys.indexOf(key);
        if (first === index) continue;
        context.addIssue({ code: 'custom', path: [index], message: `must not repeat the one at [${first}]` });
      }
    });
}

/** A point in time, RFC 3339 in UTC. */
export const Timestamp = z.iso
  .datetime({ error: 'must be a time in UTC as RFC 3339 writes it, such as 2026-08-19T10:00:00Z' })
  .meta({ example: '2026-08-19T10:00:00.000Z' });

/** As `Timestamp`, but an offset other than `Z` and a missing fraction are read too. */
export const TimestampInput = z.iso
  .datetime({ offset: true, error: 'must be a time as RFC 3339 writes it, such as 2026-08-19T10:00:00Z' })
  .meta({ description: 'RFC 3339, with `Z` or an offset.', example: '2026-08-19T10:00:00Z' });
