import { z } from '@hono/zod-openapi';
import { KeyId } from '../../../contracts/api-key.ts';
import { DeletionId } from '../../../contracts/data-deletion.ts';
import { HoldId } from '../../../contracts/legal-hold.ts';
import { OverrideId } from '../../../contracts/override.ts';
import { CredentialId } from '../../../contracts/provider-credential.ts';
import { SuspensionId } from '../../../contracts/suspension.ts';
import { TenantId } from '../../../contracts/tenant.ts';
import { ADMIN_ROLES, allow } from '../../middleware/allow.ts';

export const TENANTS = '/v1/admin/tenants';
export const TENANT = `${TENANTS}/{tenant_id}` as const;
export const PRICES = '/v1/admin/prices';
export const CAPABILITIES = '/v1/admin/capabilities';

/** Room for the largest map of aliases. */
export const MAX_BODY_BYTES = 16 * 1024 ** 2;

export const TenantParams = z.object({ tenant_id: TenantId });
export const ProjectParams = z.object({ tenant_id: TenantId, project_id: z.string() });
export const CustomerParams = z.object({ tenant_id: TenantId, customer_id: z.string() });
export const HoldParams = z.object({ tenant_id: TenantId, hold_id: HoldId });
export const DeletionParams = CustomerParams.extend({ deletion_id: DeletionId });
export const GatewayKeyParams = z.object({ key_id: KeyId });
export const KeyParams = z.object({ tenant_id: TenantId, key_id: KeyId });
export const SuspensionParams = z.object({ tenant_id: TenantId, suspension_id: SuspensionId });
export const GatewayCredentialParams = z.object({ credential_id: CredentialId });
export const TenantCredentialParams = z.object({ tenant_id: TenantId, credential_id: CredentialId });
export const OverrideParams = z.object({ override_id: OverrideId });

/** What every route for admins declares. */
export const ADMIN_ROUTE = { tags: ['Admins'], security: [{ bearer: [] }] };

/** What the routes that rotate a key say of themselves. */
export const ROTATION = {
  summary: 'Put a new key in the place of another',
  description:
    'It has the same rights and the same end, and the answer shows it, this once. The old one goes on for the overlap; recurring ' +
    'jobs made with it go on under the new one.',
};

export const adminsOnly = allow({ roles: ADMIN_ROLES, scope: { read: 'admin:read', write: 'admin:write' } });
