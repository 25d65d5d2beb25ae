import { z } from 'zod';
import { NextCursor } from './pagination.ts';
import { ProviderInput, ProviderName } from './provider.ts';
import { plainText, Timestamp } from './text.ts';

export const CredentialId = z
  .string()
  .meta({ description: 'A credential’s id.', example: 'cred_01j7zb8k3te9aabfm0z0e2d3k4' });

const ProviderKey = z
  .string()
  .regex(/^[\x21-\x7e]{8,4096}$/, 'must be 8 to 4096 printable ASCII characters without spaces')
  .meta({ description: 'The provider’s key. It is kept sealed and never shown again.', format: 'password' });

export const NewGatewayCredential = z
  .strictObject({
    provider: ProviderInput,
    name: plainText(200).meta({ description: 'For people.', example: 'production account' }),
    api_key: ProviderKey,
  })
  .meta({ id: 'NewGatewayCredential' });
export type NewGatewayCredential = z.infer<typeof NewGatewayCredential>;

export const NewTenantCredential = NewGatewayCredential.extend({
  project_id: plainText(200)
    .optional()
    .meta({ description: 'For the jobs of this project alone; absent: for all of the tenant’s.' }),
}).meta({ id: 'NewTenantCredential' });
export type NewTenantCredential = z.infer<typeof NewTenantCredential>;

export const ReplaceCredential = z.strictObject({ api_key: ProviderKey }).meta({ id: 'ReplaceCredential' });
export type ReplaceCredential = z.infer<typeof ReplaceCredential>;

export const ProviderCredential = z
  .object({
    credential_id: CredentialId,
    provider: ProviderName,
    tenant_id: z.string().nullable().meta({ description: 'Null for the gateway’s own.' }),
    project_id: z.string().nullable(),
    name: z.string(),
    key_hint: z.string().meta({ description: 'How the key ends, to recognise it by.', example: '…x7Qf' }),
    created_by: z.string().meta({ description: 'The id of the admin’s key.' }),
    created_at: Timestamp,
    replaced_at: Timestamp.nullable().meta({ description: 'When the key was last replaced by another.' }),
    revoked_at: Timestamp.nullable(),
    last_used_at: Timestamp.nullable().meta({ description: 'To the minute.' }),
  })
  .meta({ id: 'ProviderCredential', description: 'A key of a provider’s account, without the key.' });
export type ProviderCredential = z.infer<typeof ProviderCredential>;

export const ProviderCredentialList = z
  .object({ data: z.array(ProviderCredential), next_cursor: NextCursor })
  .meta({ id: 'ProviderCredentialList' });
export type ProviderCredentialList = z.infer<typeof ProviderCredentialList>;
