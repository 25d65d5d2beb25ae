import { z } from 'zod';
import { OVERAGE_POLICIES } from '../domain/overage.ts';
import { AccountName, ownId, SUSPENSION_FIELDS } from './account.ts';
import { ALLOW_LISTS, ChangeAllowList } from './allow-list.ts';
import { MAX_ITEMS_PER_SHARD } from './create-job.ts';
import { Currency, CurrencyInput } from './money.ts';
import { NextCursor } from './pagination.ts';
import { plainText, Timestamp } from './text.ts';

export const TenantId = z.string().meta({ description: 'A tenant’s id.', example: 'tenant_acme' });

const TimeZone = z.string().meta({
  description: 'IANA name. The months of the tenant’s budgets begin at its midnight.',
  example: 'Europe/Berlin',
});

export const MaxItemsPerShard = z
  .int()
  .min(1)
  .max(MAX_ITEMS_PER_SHARD)
  .nullable()
  .meta({ description: 'Most items of one provider batch of the tenant’s jobs; null for the provider’s own limit.' });

export const OVERAGE_POLICY_NAMES = OVERAGE_POLICIES;

const OveragePolicyName = z.enum(OVERAGE_POLICIES).meta({
  description:
    'What happens to charges above what a job held: `charge` charges them, `cap` leaves them with the gateway, `suspend` ' +
    'charges them and lets the scope that overran start nothing new. Of jobs accepted from then on.',
});

const EstimateMargin = z
  .string()
  .max(40)
  .regex(
    /^(0|[1-4])(\.[0-9]{1,6})?$|^5(\.0{1,6})?$/,
    'must be a decimal string from "0" to "5" with at most 6 decimals',
  )
  .meta({
    description: 'Held on top of an estimate, as a part of it. Of jobs accepted from then on.',
    example: '0.10',
  });

/** A tenant as the gateway's admins see it. */
export const Tenant = z
  .object({
    tenant_id: TenantId,
    name: z.string(),
    currency: Currency,
    time_zone: TimeZone,
    ...ALLOW_LISTS,
    max_items_per_shard: MaxItemsPerShard,
    overage_policy: OveragePolicyName,
    estimate_margin: EstimateMargin,
    ...SUSPENSION_FIELDS,
    created_at: Timestamp,
  })
  .meta({ id: 'Tenant' });
export type Tenant = z.infer<typeof Tenant>;

export const TenantList = z.object({ data: z.array(Tenant), next_cursor: NextCursor }).meta({ id: 'TenantList' });
export type TenantList = z.infer<typeof TenantList>;

const TimeZoneInput = plainText(64)
  .optional()
  .meta({ description: 'IANA name, as it is written there.', example: 'Europe/Berlin' });

export const CreateTenant = z
  .strictObject({
    tenant_id: ownId('tenant', 'tenant_acme'),
    name: AccountName,
    currency: CurrencyInput.default('USD').meta({
      description: 'ISO 4217 code. Its jobs can run on models with a price in it. It cannot be changed.',
    }),
    time_zone: TimeZoneInput.default('UTC'),
  })
  .meta({ id: 'CreateTenant' });
export type CreateTenant = z.infer<typeof CreateTenant>;

/** A field that is left out stays as it is. */
export const ChangeTenant = z
  .strictObject({
    ...ChangeAllowList.shape,
    max_items_per_shard: MaxItemsPerShard.optional(),
    overage_policy: OveragePolicyName.optional(),
    estimate_margin: EstimateMargin.optional(),
    name: AccountName.optional(),
    time_zone: TimeZoneInput,
  })
  .meta({ id: 'ChangeTenant' });
export type ChangeTenant = z.infer<typeof ChangeTenant>;
