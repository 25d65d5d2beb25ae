import type { ApiKey } from '../../contracts/api-key.ts';
import type { KeyRecord } from '../../db/key-records.ts';
import { presentTime } from './time.ts';

export function presentKey(key: KeyRecord): ApiKey {
  return {
    key_id: key.keyId,
    role: key.role,
    name: key.name,
    prefix: key.prefix,
    project_id: key.projectId,
    customer_id: key.customerId,
    scopes: [...key.scopes],
    allowed_models: key.allowedModels === null ? null : [...key.allowedModels],
    allowed_providers: key.allowedProviders === null ? null : [...key.allowedProviders],
    expires_at: presentTime(key.expiresAt),
    revoked_at: presentTime(key.revokedAt),
    last_used_at: presentTime(key.lastUsedAt),
    replaced_by: key.replacedBy,
    created_at: key.createdAt.toISOString(),
  };
}
