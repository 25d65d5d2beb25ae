import { z } from 'zod';

/** Of every POST that creates or submits. */
export const IdempotencyHeader = z.object({
  'idempotency-key': z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 printable ASCII characters without spaces')
    .optional()
    .meta({
      description:
        'Kept for 24 hours: the same key and content get the same answer and one effect; other content is refused with 409.',
    }),
});

export const SubmitHeaders = IdempotencyHeader.extend({
  prefer: z.string().optional().meta({
    description: '`wait=N`: seconds to wait for the verdict, 0 to 60; 10 where nothing is said.',
    example: 'wait=10',
  }),
});
