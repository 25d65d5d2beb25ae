import { z } from 'zod';
import { plainText } from './text.ts';

export const CancelJob = z
  .strictObject({ reason: plainText(500).nullable().optional() })
  .meta({ id: 'CancelBatchJob' });
export type CancelJob = z.infer<typeof CancelJob>;
