import { z } from 'zod';
import { FINDING_KINDS, FINDING_OUTCOMES } from '../domain/sweep-finding.ts';
import { NextCursor, PageQuery } from './pagination.ts';
import { Timestamp } from './text.ts';

const Finding = z
  .object({
    finding_no: z.int().meta({ description: 'Rises with every finding.' }),
    kind: z.enum(FINDING_KINDS),
    outcome: z.enum(FINDING_OUTCOMES).meta({
      description: '`repaired`: the gateway helped itself. `raised`: it could not, or what it did has not helped.',
    }),
    subject: z.string().meta({ description: 'What it is about: ids of the gateway, or a provider and its batch.' }),
    job_id: z.string().nullable(),
    tenant_id: z.string().nullable(),
    facts: z.record(z.string(), z.unknown()).meta({ description: 'As they were when it was found last.' }),
    times: z.int().meta({ description: 'How often it was found on that day.' }),
    first_found_at: Timestamp,
    last_found_at: Timestamp,
  })
  .meta({ id: 'Finding', description: 'What a sweep found on a day (UTC): something that should not have been so.' });

export const FindingList = z.object({ data: z.array(Finding), next_cursor: NextCursor }).meta({ id: 'FindingList' });
export type FindingList = z.infer<typeof FindingList>;

export const FindingQuery = z.strictObject({
  ...PageQuery,
  outcome: z.enum(FINDING_OUTCOMES).optional(),
  kind: z.enum(FINDING_KINDS).optional(),
});
export type FindingQuery = z.infer<typeof FindingQuery>;
