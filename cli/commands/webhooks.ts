import { CreateWebhookEndpoint, type WebhookDelivery, type WebhookEndpoint } from '../../contracts/webhook.ts';
import { CONNECTION_OPTIONS, type Context, defineCommand } from '../command.ts';
import { connectTenant } from '../connection.ts';
import { usageError } from '../errors.ts';
import { exitCode } from '../exit-codes.ts';
import type { TenantCalls } from '../gateway.ts';
import { oneOf } from '../option-values.ts';
import { type Column, printJson, table } from '../output.ts';

const ACTIONS = ['list', 'add', 'show', 'remove', 'rotate', 'test', 'deliveries', 'replay', 'job-secret'] as const;
type Action = (typeof ACTIONS)[number];

const NEEDS: { readonly [action in Action]?: string } = {
  add: 'a URL',
  show: 'an endpoint',
  remove: 'an endpoint',
  rotate: 'an endpoint',
  test: 'an endpoint',
  replay: 'a delivery',
};
const LIST_LIMIT = 100;

const ENDPOINT_COLUMNS: readonly Column<WebhookEndpoint>[] = [
  { title: 'ENDPOINT', cell: ({ endpoint_id: id }) => id },
  { title: 'URL', cell: ({ url }) => url, maxWidth: 60 },
  { title: 'EVENTS', cell: ({ event_types: types }) => types?.join(' ') ?? 'all', maxWidth: 40 },
  { title: 'PROJECT', cell: ({ project_id: id }) => id },
  { title: 'STATE', cell: ({ disabled, disabled_reason: reason }) => (disabled ? `disabled: ${reason}` : 'enabled') },
];

const DELIVERY_COLUMNS: readonly Column<WebhookDelivery>[] = [
  { title: 'DELIVERY', cell: ({ delivery_id: id }) => id },
  { title: 'EVENT', cell: ({ event_type: type }) => type },
  { title: 'JOB', cell: ({ job_id: id }) => id },
  { title: 'STATUS', cell: ({ status }) => status },
  { title: 'ATTEMPTS', cell: ({ attempts }) => String(attempts) },
  { title: 'LAST', cell: ({ status_code: code, error }) => error ?? (code === null ? null : String(code)) },
  { title: 'NEXT', cell: ({ next_attempt_at: next }) => next },
];

export const webhooksCommand = defineCommand({
  name: 'webhooks',
  summary: 'have events told to a URL: add, list, show, remove, rotate, test, deliveries, replay',
  arguments: ['ACTION', '[WHAT]'],
  options: {
    ...CONNECTION_OPTIONS,
    events: { type: 'string', value: 'TYPES', help: 'add: only these types, parted by commas' },
    project: { type: 'string', value: 'PROJECT', help: 'add: only events of this project' },
    status: { type: 'string', value: 'STATUS', help: 'deliveries: only those pending, delivered or abandoned' },
    job: { type: 'string', value: 'JOB', help: 'deliveries: only those of this job' },
  },
  details:
    'WHAT is a URL for add, a delivery for replay, an endpoint for the others; deliveries takes one or none. The secret that calls are verified ' +
    'with is shown by add and rotate, once. job-secret makes, or replaces, the one for webhooks of jobs.',
  examples: [
    'webhooks add https://hooks.example.com/batchgate --events batch_job.completed,batch_job.failed',
    'webhooks deliveries --status abandoned',
    'webhooks replay whd_01j7zb8k3te9aabfm0z0e2d3k4',
  ],
  async run({ values, positionals: [given = '', what] }, context) {
    const action = oneOf('ACTION', given, ACTIONS);
    const needed = NEEDS[action];
    if (needed !== undefined && what === undefined) throw usageError(`webhooks ${action} needs ${needed}.`, 'WHAT');
    if (needed === undefined && what !== undefined && action !== 'deliveries')
      throw usageError(`webhooks ${action} takes no further argument.`, 'WHAT');
    const calls = connectTenant(values, context);
    const told = await act(calls, action, what ?? '', values, context);
    if (values.json) printJson(context, told.json);
    else context.terminal.out.write(told.text);
    return exitCode('ok');
  },
});

interface Told {
  readonly json: unknown;
  readonly text: string;
}

interface Filters {
  readonly events?: string | undefined;
  readonly project?: string | undefined;
  readonly status?: string | undefined;
  readonly job?: string | undefined;
}

async function act(calls: TenantCalls, action: Action, what: string, values: Filters, context: Context): Promise<Told> {
  switch (action) {
    case 'list': {
      const page = await calls.listWebhooks({ limit: String(LIST_LIMIT) });
      const text = page.data.length === 0 ? 'There is no endpoint.\n' : table(context, ENDPOINT_COLUMNS, page.data);
      return { json: page, text };
    }
    case 'add': {
      const made = await calls.addWebhook(readEndpoint(what, values));
      return { json: made, text: `${made.endpoint_id} is made. Its secret, shown this once:\n${made.secret ?? '-'}\n` };
    }
    case 'show': {
      const endpoint = await calls.getWebhook(what);
      return { json: endpoint, text: table(context, ENDPOINT_COLUMNS, [endpoint]) };
    }
    case 'remove':
      await calls.removeWebhook(what);
      return { json: { endpoint_id: what, deleted: true }, text: `${what} is removed.\n` };
    case 'rotate':
      return secretTold(await calls.rotateWebhook(what));
    case 'job-secret':
      return secretTold(await calls.rotateJobSecret());
    case 'test': {
      const delivery = await calls.testWebhook(what);
      return { json: delivery, text: `${delivery.delivery_id} is on its way; "webhooks deliveries" shows it.\n` };
    }
    case 'deliveries':
      return deliveries(calls, what, values, context);
    case 'replay': {
      const delivery = await calls.replayWebhook(what);
      return { json: delivery, text: `${what} is on its way once more.\n` };
    }
  }
}

async function deliveries(calls: TenantCalls, endpoint: string, values: Filters, context: Context): Promise<Told> {
  const page = await calls.listDeliveries({
    limit: String(LIST_LIMIT),
    endpoint_id: endpoint === '' ? undefined : endpoint,
    status: values.status,
    job_id: values.job,
  });
  const text = page.data.length === 0 ? 'There is no such delivery.\n' : table(context, DELIVERY_COLUMNS, page.data);
  return { json: page, text };
}

function secretTold(rotated: { secret: string | null; previous_secret_until: string | null }): Told {
  const { secret, previous_secret_until: until } = rotated;
  const overlap = until === null ? '' : ` The one before signs too until ${until}.`;
  return {
    json: rotated,
    text: `The new secret, shown this once:\n${secret ?? '-'}\n${overlap === '' ? '' : `${overlap.trim()}\n`}`,
  };
}

/** The gateway judges it too; here a slip costs no call. */
function readEndpoint(url: string, { events, project }: Filters): CreateWebhookEndpoint {
  const read = CreateWebhookEndpoint.safeParse({
    url,
    ...(events !== undefined && { event_types: events.split(',').map((type) => type.trim()) }),
    ...(project !== undefined && { project_id: project }),
  });
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw usageError(`The endpoint is not valid: ${issue?.path.join('.') || 'it'}: ${issue?.message ?? ''}.`, 'WHAT');
}
