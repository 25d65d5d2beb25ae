import { z } from 'zod';

export const ResealReport = z
  .object({
    current_key_id: z
      .string()
      .meta({ description: 'The key that seals now: the first of `BATCHGATE_ENCRYPTION_KEYS`.' }),
    resealed: z.int().meta({ description: 'Values sealed anew by this call.' }),
    failed: z.int().meta({ description: 'Values that could not be opened: their key is gone, or they are damaged.' }),
    sealed: z
      .array(z.object({ key_id: z.string(), values: z.int() }))
      .meta({ description: 'How many values each key seals now. A key that is not among them can be removed.' }),
  })
  .meta({ id: 'ResealReport' });
export type ResealReport = z.infer<typeof ResealReport>;
