import { z } from 'zod';

/** A field of the contract that this version does not serve: refused by name rather than dropped without a word. */
export function notYet(field: string) {
  const message = `${field} is not supported by this version of the gateway`;
  return z
    .unknown()
    .refine((value) => value === undefined, message)
    .optional()
    .meta({ description: 'Not supported by this version: refused.' });
}
