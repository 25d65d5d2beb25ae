import type { ApiCaller, CallOptions } from '../../harness/api.ts';
import { chatItem } from '../../harness/api.ts';
import type { TenantWorld } from './tenant-world.ts';

/** Ids that stand in a path, by the name of the parameter. */
export type PathIds = Readonly<Record<string, string>>;

/** How a route is looked at. Every route of the reference has one, or the suite fails. */
export type RouteCheck =
  /** By the id of something: who may not see it is answered as for an id that never was. */
  | { readonly kind: 'object'; readonly of: ObjectKind; readonly call?: CallOptions; readonly query?: string }
  /** Of many things: whatever is asked, nothing of others is among them. */
  | { readonly kind: 'list'; readonly queries: readonly ((owner: TenantWorld) => string)[] }
  /** Makes something, and may name something else: naming somebody else's is as naming nothing. */
  | { readonly kind: 'create'; readonly naming: readonly ((jobId: string) => unknown)[] }
  /** For keys of the gateway: to any other the answer is the same, whatever is in the path. */
  | { readonly kind: 'gateway' }
  /** Says nothing of tenants. */
  | { readonly kind: 'keyless' };

export type ObjectKind = 'job' | 'task' | 'document' | 'batch' | 'schedule' | 'endpoint' | 'delivery';

const object = (of: ObjectKind, call: CallOptions = {}, query = ''): RouteCheck => ({
  kind: 'object',
  of,
  call,
  query,
});
const list = (...queries: string[]): RouteCheck => ({
  kind: 'list',
  queries: [() => '', ...queries.map((query) => (owner: TenantWorld) => filled(query, owner))],
});
/** Of a batch, its customer’s: the id is put in its place. */
const NAMED = '?batch_name={id}&customer_id=customer-of-alpha';
const GATEWAY: RouteCheck = { kind: 'gateway' };

/** `{a}` in a query stands for what the owner has. */
function filled(query: string, { jobs, ...owner }: TenantWorld): string {
  const { projectId, customerId, keyId, endpointId, tenantId, batchName } = owner;
  const values: Record<string, string> = {
    projectId,
    customerId,
    keyId,
    job: jobs.ended,
    endpointId,
    tenantId,
    batchName,
  };
  return query.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ''));
}

const LINE = `${JSON.stringify(chatItem('intruder'))}\n`;
const FIGURES = list(
  'customer_id={customerId}',
  'project_id={projectId}',
  'api_key_id={keyId}',
  'group_by=customer',
  'group_by=project',
  'group_by=api_key',
  'group_by=tenant',
);

export const ROUTE_CHECKS: Readonly<Record<string, RouteCheck>> = {
  healthz: { kind: 'keyless' },
  readyz: { kind: 'keyless' },
  receive_provider_event: { kind: 'keyless' },

  create_job: { kind: 'create', naming: [] },
  list_jobs: list(
    'customer_id={customerId}',
    'project_id={projectId}',
    'api_key_id={keyId}',
    'status=completed_with_errors',
    'model=openai/gpt-4o-mini',
    'created_after=2020-01-01T00:00:00Z',
  ),
  get_status: object('job'),
  delete: object('job'),
  append_items: object('job', { json: { items: [chatItem('intruder')] } }),
  get_item: object('job'),
  get_item_by_query: object('job', {}, '?custom_id=item-of-alpha-1'),
  upload_manifest: object('job', { body: LINE, headers: { 'content-type': 'application/x-ndjson' } }),
  validate: object('job'),
  submit: object('job'),
  cancel: object('job', { json: { reason: 'none of mine' } }),
  retry: object('job', { json: {} }),
  list_results: object('job'),
  quote: object('job'),
  storage: object('job'),
  ledger: object('job'),
  export_usage: object('job'),

  create_task: { kind: 'create', naming: [] },
  get_task: object('task', {}, '?include=history'),
  cancel_task: object('task'),
  replay_task_webhook: object('task'),

  upload_document: { kind: 'create', naming: [] },
  get_document: object('document'),
  list_documents: list('batch_name={batchName}', 'batch_name={batchName}&customer_id={customerId}', 'status=succeeded'),
  list_document_batches: list(),
  get_document_batch: object('batch', {}, '?customer_id=customer-of-alpha'),
  get_document_batch_by_query: object('batch', {}, NAMED),
  get_batch_results: object('batch'),
  get_batch_results_by_query: object('batch', {}, NAMED),
  process_document_batch: object('batch', { json: { columns: [{ name: 'total' }] } }),
  process_document_batch_by_query: object('batch', { json: { columns: [{ name: 'total' }] } }, NAMED),
  delete_document_batch: object('batch'),
  delete_document_batch_by_query: object('batch', {}, NAMED),
  set_batch_webhook: { kind: 'create', naming: [] },
  set_batch_webhook_by_query: { kind: 'create', naming: [] },
  get_batch_webhook: object('batch'),
  get_batch_webhook_by_query: object('batch', {}, NAMED),
  delete_batch_webhook: object('batch'),
  delete_batch_webhook_by_query: object('batch', {}, NAMED),

  create_schedule: {
    kind: 'create',
    naming: [
      (jobId) => ({
        name: 'copies',
        schedule: { every_seconds: 3_600 },
        job: { endpoint: 'chat.completions', model: 'openai/gpt-4o-mini' },
        items: { manifest_of_job: jobId },
      }),
    ],
  },
  list_schedules: list(),
  get_schedule: object('schedule'),
  update_schedule: object('schedule', { json: { paused: true } }),
  delete_schedule: object('schedule'),
  run_schedule: object('schedule', { json: {} }),

  list_webhook_deliveries: list('endpoint_id={endpointId}', 'job_id={job}', 'status=pending'),
  get_webhook_delivery: object('delivery'),
  replay_webhook_delivery: object('delivery'),
  get_job_webhook_secret: list(),
  rotate_job_webhook_secret: { kind: 'create', naming: [] },
  create_webhook_endpoint: { kind: 'create', naming: [] },
  list_webhook_endpoints: list(),
  get_webhook_endpoint: object('endpoint'),
  update_webhook_endpoint: object('endpoint', { json: { description: 'mine now' } }),
  delete_webhook_endpoint: object('endpoint'),
  test_webhook_endpoint: object('endpoint'),
  rotate_webhook_secret: object('endpoint', { json: {} }),

  report_usage: list(
    'group_by=customer',
    'group_by=project',
    'group_by=api_key',
    'level=item',
    'level=job',
    'format=csv',
    'format=ndjson',
  ),
  list_budgets: list(),
  report_items: FIGURES,
  report_costs: FIGURES,
  report_tokens: FIGURES,
  report_cache: FIGURES,
  report_retries: FIGURES,
  report_durations: FIGURES,
  report_failures: FIGURES,
  list_models: list(),
  list_capabilities: list(),
  list_audit_log: list('subject={job}', 'actor={keyId}', 'act=job.submitted'),
};

/** Those of the gateway's own keys are known by their paths. */
export function checkOf(operation: string, path: string): RouteCheck | undefined {
  return /^\/(?:v1\/operator|v1\/admin|codec)\//.test(path) ? GATEWAY : ROUTE_CHECKS[operation];
}

/** What an object's id is called in paths, and the owner's objects of the kind. */
export const OBJECTS: Readonly<
  Record<
    ObjectKind,
    { readonly parameter: string; readonly prefix: string; readonly ids: (owner: TenantWorld) => readonly string[] }
  >
> = {
  job: { parameter: 'job_id', prefix: 'job', ids: ({ jobs }) => Object.values(jobs) },
  task: { parameter: 'id', prefix: 'task', ids: ({ taskIds }) => taskIds },
  document: { parameter: 'id', prefix: 'doc', ids: ({ documentId }) => [documentId] },
  batch: { parameter: 'batch_name', prefix: 'documentBatch', ids: ({ batchName }) => [batchName] },
  schedule: { parameter: 'schedule_id', prefix: 'schedule', ids: ({ scheduleId }) => [scheduleId] },
  endpoint: { parameter: 'endpoint_id', prefix: 'webhookEndpoint', ids: ({ endpointId }) => [endpointId] },
  delivery: { parameter: 'delivery_id', prefix: 'webhookDelivery', ids: ({ deliveryId }) => [deliveryId] },
};

export interface Stranger {
  readonly name: string;
  readonly caller: ApiCaller;
  /** Whether it is a key of the same tenant. */
  readonly isInside: boolean;
}
