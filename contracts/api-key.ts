import { z } from 'zod';
import { ROLES } from '../domain/principal.ts';
import { SCOPES } from '../domain/scope.ts';
import { AccountName } from './account.ts';
import { ALLOW_LISTS, ChangeAllowList } from './allow-list.ts';
import { NextCursor } from './pagination.ts';
import { plainText, Timestamp, TimestampInput, uniqueList } from './text.ts';

export const KeyId = z.string().meta({ description: 'A key’s id, never the key itself.', example: 'key_01j7zb8k3te9' });

/** A key without its secret. */
export const ApiKey = z
  .object({
    key_id: KeyId,
    role: z.enum(ROLES),
    name: z.string(),
    prefix: z.string().meta({ description: 'How the secret begins, to recognise it by.' }),
    project_id: z.string().nullable(),
    customer_id: z.string().nullable(),
    scopes: z.array(z.string()).meta({ description: 'What it is limited to; empty for all of its role.' }),
    ...ALLOW_LISTS,
    expires_at: Timestamp.nullable(),
    revoked_at: Timestamp.nullable(),
    last_used_at: Timestamp.nullable().meta({ description: 'To the minute.' }),
    replaced_by: z.string().nullable().meta({ description: 'The key that took its place.' }),
    created_at: Timestamp,
  })
  .meta({ id: 'ApiKey' });
export type ApiKey = z.infer<typeof ApiKey>;

export const ApiKeyList = z.object({ data: z.array(ApiKey), next_cursor: NextCursor }).meta({ id: 'ApiKeyList' });
export type ApiKeyList = z.infer<typeof ApiKeyList>;

/** A key that was just made. */
export const NewApiKey = ApiKey.extend({
  key: z
    .string()
    .nullable()
    .meta({
      description:
        'The key itself, shown this once and stored nowhere. Null in the repetition of a call with the same `Idempotency-Key`: ' +
        'rotate a key whose answer was lost.',
      example: 'bg_tenant_…',
    }),
}).meta({ id: 'NewApiKey' });
export type NewApiKey = z.infer<typeof NewApiKey>;

const Scopes = uniqueList(z.enum(SCOPES), { max: SCOPES.length, min: 0 })
  .default([])
  .meta({ description: 'What the key is limited to, of what its role may do; empty for all of it.' });

const ExpiresAt = TimestampInput.nullable()
  .default(null)
  .meta({ description: 'When it ends by itself, with `Z` or an offset; null for never.' });

export const CreateTenantKey = z
  .strictObject({
    role: z.enum(['tenant_admin', 'project', 'customer']),
    name: AccountName.meta({ description: 'What it is for.', example: 'nightly imports' }),
    project_id: plainText(128)
      .nullable()
      .default(null)
      .meta({ description: 'Of a `project` key: its own. It may narrow a `customer` key.' }),
    customer_id: plainText(128)
      .nullable()
      .default(null)
      .meta({ description: 'Of a `customer` key: its own. It may narrow a `project` key.' }),
    scopes: Scopes,
    expires_at: ExpiresAt,
    ...ChangeAllowList.shape,
  })
  .meta({ id: 'CreateTenantKey' });
export type CreateTenantKey = z.infer<typeof CreateTenantKey>;

export const CreateGatewayKey = z
  .strictObject({
    role: z.enum(['operator', 'gateway_admin']),
    name: AccountName.meta({ description: 'What it is for.', example: 'on call' }),
    scopes: Scopes,
    expires_at: ExpiresAt,
  })
  .meta({ id: 'CreateGatewayKey' });
export type CreateGatewayKey = z.infer<typeof CreateGatewayKey>;

const MAX_OVERLAP_SECONDS = 30 * 24 * 3_600;

export const RotateKey = z
  .strictObject({
    overlap_seconds: z
      .int()
      .min(0)
      .max(MAX_OVERLAP_SECONDS)
      .default(24 * 3_600)
      .meta({ description: 'How long the old key goes on beside the new one; 0 ends it at once.' }),
  })
  .meta({ id: 'RotateKey' });
export type RotateKey = z.infer<typeof RotateKey>;
