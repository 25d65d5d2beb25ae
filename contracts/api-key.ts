import { z } from 'zod';
import { ROLES } from '../domain/principal.ts';
import { ALLOW_LISTS } from './allow-list.ts';
import { NextCursor } from './pagination.ts';
import { Timestamp } from './text.ts';

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
    scopes: z.array(z.string()),
    ...ALLOW_LISTS,
    expires_at: Timestamp.nullable(),
    revoked_at: Timestamp.nullable(),
    last_used_at: Timestamp.nullable(),
    created_at: Timestamp,
  })
  .meta({ id: 'ApiKey' });
export type ApiKey = z.infer<typeof ApiKey>;

export const ApiKeyList = z.object({ data: z.array(ApiKey), next_cursor: NextCursor }).meta({ id: 'ApiKeyList' });
export type ApiKeyList = z.infer<typeof ApiKeyList>;
