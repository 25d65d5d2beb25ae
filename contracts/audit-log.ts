import { z } from 'zod';
import { AUDIT_ACTS } from '../domain/audit-act.ts';
import { NextCursor, PageQuery } from './pagination.ts';
import { plainText, Timestamp, TimestampInput } from './text.ts';

export const AuditEntry = z
  .object({
    entry_no: z.int().meta({ description: 'Counts up; gaps mean nothing.' }),
    at: Timestamp,
    act: z.enum(AUDIT_ACTS),
    actor: z.string().meta({
      description:
        'The id of the key that asked; `gateway` for the gateway by itself, and to a tenant for those who run the gateway.',
    }),
    tenant_id: z.string().nullable().meta({ description: 'Whom it concerns; null for the gateway as a whole.' }),
    subject: z.string().nullable().meta({ description: 'What was acted on, such as a job’s or key’s id.' }),
    details: z.record(z.string(), z.unknown()).meta({ description: 'Ids, counts and names of fields.' }),
  })
  .meta({ id: 'AuditEntry' });
export type AuditEntry = z.infer<typeof AuditEntry>;

export const AuditLog = z
  .object({ data: z.array(AuditEntry), next_cursor: NextCursor })
  .meta({ id: 'AuditLog', description: 'Newest first.' });
export type AuditLog = z.infer<typeof AuditLog>;

const FILTERS = {
  ...PageQuery,
  act: z.enum(AUDIT_ACTS).optional(),
  subject: plainText(200).optional().meta({ description: 'The id of what was acted on.' }),
  from: TimestampInput.optional().meta({ description: 'Entries from this time on.' }),
  to: TimestampInput.optional().meta({ description: 'Entries before this time.' }),
};

export const TenantAuditQuery = z.strictObject({
  ...FILTERS,
  actor: plainText(128).optional().meta({ description: 'The id of one of the tenant’s keys.' }),
});
export type TenantAuditQuery = z.infer<typeof TenantAuditQuery>;

export const AuditQuery = z.strictObject({
  ...FILTERS,
  actor: plainText(128).optional().meta({ description: 'The id of a key, or `gateway`.' }),
  tenant_id: plainText(128).optional(),
});
export type AuditQuery = z.infer<typeof AuditQuery>;
