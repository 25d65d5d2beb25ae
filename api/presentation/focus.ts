import type { FocusRow } from '../../contracts/focus-row.ts';
import type { ItemUsageRecord, JobUsage } from '../../contracts/usage-record.ts';
import type { UsageJob } from '../../db/usage-jobs.ts';
import type { JobKind } from '../../domain/job-kind.ts';

const GATEWAY = 'Batchgate';
const TAG_PREFIX = 'batchgate/';

/** Who makes the models, by the gateway's name of the provider; any other is called as the gateway calls it. */
const PUBLISHERS: Readonly<Record<string, string>> = { openai: 'OpenAI', anthropic: 'Anthropic', gemini: 'Google' };

/** What a job of each kind is, and an item of it. A task is both. */
const RESOURCES = {
  batch: { job: 'Batch job', item: 'Batch item' },
  task: { job: 'Task', item: 'Task' },
  document: { job: 'Document run', item: 'Document' },
} as const satisfies { readonly [kind in JobKind]: object };
const SERVICES = { batch: 'Batch', task: 'Task', document: 'Document' } as const satisfies {
  readonly [kind in JobKind]: string;
};

export interface FocusSource {
  readonly job: UsageJob;
  readonly record: JobUsage | ItemUsageRecord;
  /** A correction dated in a later month than what it corrects. */
  readonly isLate: boolean;
}

/**
 * A record of usage in the columns of FOCUS. The gateway sells at one price, so list, contracted, effective and billed
 * cost are the same (FOCUS "List Cost": without a unit price it matches the billed cost). Everything belongs to the month
 * of its own day; what corrects an earlier month is a `Correction` (FOCUS "Charge Class").
 */
export function toFocusRow({ job, record, isLate }: FocusSource): FocusRow {
  const isItem = 'item_id' in record;
  const isCharge = record.kind === 'charge';
  const tokens = record.kind === 'adjustment' || isLate ? null : String(record.input_tokens + record.output_tokens);
  const unit = tokens === null ? null : 'Tokens';
  const sku = record.kind === 'adjustment' ? null : `${record.provider ?? 'none'}/${record.model || 'none'}`;
  return {
    BilledCost: record.cost,
    ...billingAccount(job, record),
    BillingCurrency: record.currency,
    BillingPeriodEnd: startOfMonth(record.day, 1),
    BillingPeriodStart: startOfMonth(record.day, 0),
    ChargeCategory: record.kind === 'adjustment' ? 'Adjustment' : 'Usage',
    ChargeClass: isLate ? 'Correction' : null,
    ChargeDescription: describe(record),
    ChargeFrequency: isCharge ? 'Usage-Based' : 'One-Time',
    ChargePeriodEnd: startOfDay(record.day, 1),
    ChargePeriodStart: startOfDay(record.day, 0),
    ConsumedQuantity: tokens,
    ConsumedUnit: unit,
    ContractedCost: record.cost,
    EffectiveCost: record.cost,
    ListCost: record.cost,
    PricingCategory: tokens === null ? null : 'Standard',
    PricingQuantity: tokens,
    PricingUnit: unit,
    ProviderName: GATEWAY,
    PublisherName: record.provider === null ? GATEWAY : (PUBLISHERS[record.provider] ?? record.provider),
    ResourceId: (isItem ? record.item_id : null) ?? record.job_id,
    ResourceName: (isItem ? record.custom_id : null) ?? job.name,
    ResourceType: RESOURCES[record.job_kind][isItem && record.item_id !== null ? 'item' : 'job'],
    ServiceCategory: 'AI and Machine Learning',
    ServiceName: serviceOf(record),
    SkuId: sku,
    SkuPriceId: sku === null ? null : `${sku}/${job.priceMode}`,
    SubAccountId: record.project_id,
    SubAccountName: record.project_id,
    Tags: tags(job),
    ...extensions(record),
  };
}

/** The tenant's account with the gateway; for the customer's own key the customer's with its tenant. */
function billingAccount(job: UsageJob, record: JobUsage | ItemUsageRecord) {
  const isCustomer = record.upstream_amount === null && job.customerId !== null;
  const account = isCustomer ? job.customerId : job.tenantId;
  return {
    BillingAccountId: account ?? job.tenantId,
    BillingAccountName: account,
    InvoiceIssuerName: isCustomer ? job.tenantId : GATEWAY,
  };
}

function describe(record: JobUsage | ItemUsageRecord): string {
  const model = record.model === '' ? 'no model' : record.model;
  if (record.kind === 'adjustment')
    return `Adjustment of the charge of ${RESOURCES[record.job_kind].job.toLowerCase()} ${record.job_id}`;
  if (record.kind === 'refund') return `Refund of ${serviceOf(record).toLowerCase()} with ${model}`;
  return `${serviceOf(record)} with ${model}`;
}

function serviceOf({ job_kind: kind, endpoint }: JobUsage | ItemUsageRecord): string {
  return `${SERVICES[kind]} ${endpoint}`;
}

/** The job's metadata as the caller's own tags; the gateway's have its prefix. */
function tags(job: UsageJob): string {
  const own = { project: job.projectId, customer: job.customerId, api_key: job.apiKeyId };
  const prefixed = Object.entries(own).flatMap(([name, value]) => (value === null ? [] : [[TAG_PREFIX + name, value]]));
  return JSON.stringify({ ...job.metadata, ...Object.fromEntries(prefixed) });
}

function extensions(record: JobUsage | ItemUsageRecord) {
  const isItem = 'item_id' in record;
  const isEstimated = isItem ? record.usage_estimated : record.usage_estimated_items > 0;
  return {
    x_ApiKeyId: record.api_key_id,
    x_CustomerCost: record.customer_amount,
    x_CustomerId: record.customer_id,
    x_CustomId: isItem ? record.custom_id : null,
    x_DeletionDeadline: record.deletion_deadline,
    x_Endpoint: record.endpoint,
    x_InputTokens: String(record.input_tokens),
    x_ItemId: isItem ? record.item_id : null,
    x_JobId: record.job_id,
    x_JobKind: record.job_kind,
    x_OutputTokens: String(record.output_tokens),
    x_PriceBookVersion: record.price_book_version,
    x_ProviderDeadline: record.provider_deadline,
    x_RecordId: record.record_id,
    x_RecordVersion: String(record.version),
    x_RequestHash: isItem ? record.request_hash : null,
    x_ResponseHash: isItem ? record.response_hash : null,
    x_RetrievalDeadline: record.retrieval_deadline,
    x_Status: record.status,
    x_Storage: record.storage,
    x_UsageEstimated: isEstimated ? ('true' as const) : ('false' as const),
  };
}

function startOfDay(day: string, later: number): string {
  const start = new Date(`${day}T00:00:00Z`);
  start.setUTCDate(start.getUTCDate() + later);
  return start.toISOString();
}

function startOfMonth(day: string, later: number): string {
  const start = new Date(`${day.slice(0, 7)}-01T00:00:00Z`);
  start.setUTCMonth(start.getUTCMonth() + later);
  return start.toISOString();
}
