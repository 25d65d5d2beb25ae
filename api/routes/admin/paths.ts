import { z } from '@hono/zod-openapi';
import { KeyId } from '../../../contracts/api-key.ts';
import { OverrideId } from '../../../contracts/override.ts';
import { SuspensionId } from '../../../contracts/suspension.ts';
import { TenantId } from '../../../contracts/tenant.ts';
import { ADMIN_ROLES, requireRole } from '../../middleware/require-role.ts';

export const TENANT = '/v1/admin/tenants/{tenant_id}';
export const PRICES = '/v1/admin/prices';
export const CAPABILITIES = '/v1/admin/capabilities';

/** Room for the largest map of aliases. */
export const MAX_BODY_BYTES = 16 * 1024 ** 2;

export const TenantParams = z.object({ tenant_id: TenantId });
export const KeyParams = z.object({ tenant_id: TenantId, key_id: KeyId });
export const SuspensionParams = z.object({ tenant_id: TenantId, suspension_id: SuspensionId });
export const OverrideParams = z.object({ override_id: OverrideId });

/** What every route for admins declares. */
export const ADMIN_ROUTE = { tags: ['Admins'], security: [{ bearer: [] }] };

export const adminsOnly = requireRole(ADMIN_ROLES);
