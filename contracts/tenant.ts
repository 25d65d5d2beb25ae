import { z } from 'zod';
import { ALLOW_LISTS } from './allow-list.ts';
import { Currency } from './money.ts';
import { Timestamp } from './text.ts';

export const TenantId = z.string().meta({ description: 'A tenant’s id.', example: 'tenant_acme' });

/** A tenant as the gateway's admins see it. */
export const Tenant = z
  .object({
    tenant_id: TenantId,
    name: z.string(),
    currency: Currency,
    ...ALLOW_LISTS,
    suspended_at: Timestamp.nullable(),
  })
  .meta({ id: 'Tenant' });
export type Tenant = z.infer<typeof Tenant>;
