import { z } from 'zod';
import { ERROR_CODES, MAX_ERROR_DETAILS } from '../domain/gateway-error.ts';

export const ErrorCodeName = z.enum(ERROR_CODES).meta({ id: 'ErrorCode', description: 'The closed list of errors.' });

export const ErrorDetailRow = z
  .strictObject({
    line: z.int().optional().meta({ description: '1-based line of an NDJSON body.' }),
    index: z.int().optional().meta({ description: '0-based position in the call.' }),
    custom_id: z.string().optional(),
    field: z.string().optional(),
    error: ErrorCodeName,
    message: z.string(),
  })
  .meta({ id: 'ErrorDetail' });
export type ErrorDetailRow = z.infer<typeof ErrorDetailRow>;

/** What was wrong, without the request it was said in. Kept with a refused submission. */
export const Refusal = z
  .object({
    error: ErrorCodeName,
    message: z.string(),
    field: z.string().optional(),
    details: z
      .array(ErrorDetailRow)
      .max(MAX_ERROR_DETAILS)
      .optional()
      .meta({ description: `At most ${MAX_ERROR_DETAILS} of the findings.` }),
    details_count: z.int().optional().meta({ description: 'The whole number of findings.' }),
  })
  .meta({ id: 'Refusal' });
export type Refusal = z.infer<typeof Refusal>;

export const ErrorEnvelope = z
  .object({ ...Refusal.shape, request_id: z.string() })
  .meta({ id: 'Error', description: 'Every answer that is not a success has this body.' });
export type ErrorEnvelope = z.infer<typeof ErrorEnvelope>;
