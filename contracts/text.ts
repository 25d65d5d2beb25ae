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

/** A point in time, RFC 3339 in UTC. */
export const Timestamp = z.iso.datetime().meta({ example: '2026-08-19T10:00:00.000Z' });

/** As `Timestamp`, but an offset other than `Z` and a missing fraction are read too. */
export const TimestampInput = z.iso
  .datetime({ offset: true })
  .meta({ description: 'RFC 3339, with `Z` or an offset.', example: '2026-08-19T10:00:00Z' });
