import type { ProviderCredential } from '../../contracts/provider-credential.ts';
import type { ProviderCredentialRow } from '../../db/provider-credentials.ts';
import { presentTime } from './time.ts';

export function presentCredential(credential: ProviderCredentialRow): ProviderCredential {
  return {
    credential_id: credential.credentialId,
    provider: credential.provider,
    tenant_id: credential.tenantId,
    project_id: credential.projectId,
    name: credential.name,
    key_hint: credential.keyHint,
    created_by: credential.createdBy,
    created_at: credential.createdAt.toISOString(),
    replaced_at: presentTime(credential.replacedAt),
    revoked_at: presentTime(credential.revokedAt),
    last_used_at: presentTime(credential.lastUsedAt),
  };
}
