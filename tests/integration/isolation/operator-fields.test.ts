import { afterAll, beforeAll, expect, test } from 'vitest';
import { openApiDocument } from '../../../api/openapi.ts';
import { type ApiCaller, createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { createWorld, type OperatorSecrets, plantOperatorSecrets, type TenantWorld } from './tenant-world.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);

let world: TenantWorld;
let secrets: OperatorSecrets;
/** What the tenant's admin, its project's key and its customer's can read. */
let readings: readonly Map<string, string>[];
beforeAll(async () => {
  world = await createWorld(db, api, 'alpha');
  secrets = await plantOperatorSecrets(db, world);
  readings = await Promise.all([world.admin, world.project, world.customer].map(readEverything));
}, 60_000);

interface Operation {
  readonly operationId: string;
  readonly 'x-roles'?: readonly string[];
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly responses: object;
}

const document = openApiDocument(api.app) as unknown as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
};
const OPERATIONS = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
);
const isForTenants = ({ operation }: (typeof OPERATIONS)[number]) =>
  operation['x-roles']?.includes('tenant_admin') === true;

/** The names of all members that a schema, and those that it refers to, may have. */
function memberNames(schema: unknown, found = new Set<string>(), seen = new Set<string>()): Set<string> {
  if (Array.isArray(schema)) for (const part of schema) memberNames(part, found, seen);
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return found;
  for (const [name, value] of Object.entries(schema)) {
    if (name === '$ref' && typeof value === 'string') {
      const referred = value.split('/').at(-1) ?? '';
      if (!seen.has(referred)) memberNames(document.components.schemas[referred], found, seen.add(referred));
    } else if (name === 'properties') {
      for (const member of Object.keys(value)) found.add(member);
      memberNames(Object.values(value), found, seen);
    } else if (name !== 'example' && name !== 'examples') {
      memberNames(value, found, seen);
    }
  }
  return found;
}

const answered = (operations: typeof OPERATIONS) => memberNames(operations.map(({ operation }) => operation.responses));

/** Queries that ask for the same in another form. */
const FORMS = [
  'level=item',
  'format=csv',
  'format=csv&level=item',
  'format=ndjson&level=item',
  'group_by=customer',
  'view=latest',
  'custom_id=item-of-alpha-3',
];

/** All that a caller of the tenant can read, in every form there is of it. */
async function readEverything(caller: ApiCaller): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  const read = async (path: string, headers: Record<string, string> = {}) => {
    const { status, text } = await caller.get(path, headers);
    if (status === 200) texts.set(`${path} ${headers['accept'] ?? ''}`, text);
    else if (status >= 500) throw new Error(`${path} answered ${status}: ${text}`);
  };
  for (const { path, operation } of OPERATIONS.filter((each) => isForTenants(each) && each.method === 'GET')) {
    const ids = { schedule_id: world.scheduleId, endpoint_id: world.endpointId, delivery_id: world.deliveryId };
    const taken = new Set(operation.parameters?.filter((each) => each.in === 'query').map(({ name }) => name));
    const queries = [
      '',
      ...FORMS.filter((form) => [...new URLSearchParams(form).keys()].every((name) => taken.has(name))),
    ];
    for (const jobId of path.includes('{job_id}') ? [world.jobs.running, world.jobs.ended] : ['']) {
      const filled = Object.entries({ ...ids, job_id: jobId }).reduce(
        (made, [name, id]) => made.replace(`{${name}}`, id),
        path.replace('{custom_id}', 'item-of-alpha-1'),
      );
      for (const query of queries) await read(`${filled}?${query}`);
      if (JSON.stringify(operation.responses).includes('application/x-ndjson')) {
        await read(filled, { accept: 'application/x-ndjson' });
        await read(`${filled}?level=item`, { accept: 'application/x-ndjson' });
      }
    }
  }
  return texts;
}

const tellsOf = (texts: Map<string, string>, told: readonly string[]) =>
  [...texts].flatMap(([path, text]) =>
    told.filter((secret) => text.includes(secret)).map((secret) => `${secret} in ${path}`),
  );

test('what only operators may know is in no answer to a tenant, in whatever form', async () => {
  for (const texts of readings) {
    expect(texts.size).toBeGreaterThan(25);
    expect(tellsOf(texts, secrets.texts)).toEqual([]);
  }
});

test('nor does an answer have a member that only operators’ contracts have', async () => {
  const forTenants = answered(OPERATIONS.filter(isForTenants));
  const operators = OPERATIONS.filter(({ path }) => path.startsWith('/v1/operator/'));
  const forOperatorsAlone = [...answered(operators)].filter((name) => !forTenants.has(name));
  expect(forOperatorsAlone).toEqual(
    expect.arrayContaining([
      ...['provider_batch_id', 'input_file_id', 'output_file_id', 'error_file_id', 'operation_name', 'credential_id'],
      ...['attempt_token', 'native_status', 'native_request_counts', 'native_errors', 'raw_error_pointer'],
    ]),
  );
  for (const texts of readings) {
    expect(
      tellsOf(
        texts,
        forOperatorsAlone.map((name) => `"${name}":`),
      ),
    ).toEqual([]);
  }
});

test('events and webhooks, whose bodies tenants are sent, hold none of it', async () => {
  const { rows } = await db.pool.query(
    `SELECT data::text AS text FROM events WHERE tenant_id = $1 UNION ALL SELECT body FROM webhook_deliveries WHERE tenant_id = $1`,
    [world.tenantId],
  );
  expect(rows.length).toBeGreaterThan(5);
  expect(tellsOf(new Map(rows.map(({ text }, index) => [String(index), text])), secrets.texts)).toEqual([]);
});

test('an operator is told of it', async () => {
  const operator = await api.caller('operator');
  const { text } = await operator.get(`/v1/operator/jobs/${world.jobs.running}`);
  for (const secret of [
    'planted-batch',
    'planted-input',
    'planted-output',
    'planted-operation',
    'planted-status',
    world.credentialId,
  ]) {
    expect(text).toContain(secret);
  }
});

test('a customer with prices of its own is told those, and nowhere what its partner pays', async () => {
  const { upstreamAmount } = secrets;
  const { rows } = await db.pool.query('SELECT job_id, bucket FROM batch_jobs WHERE tenant_id = $1 AND state = $2', [
    world.tenantId,
    'completed_with_errors',
  ]);
  const { job_id: uuid, bucket } = rows[0];
  const planted: [string, unknown[]][] = [
    [
      `UPDATE batch_jobs SET customer_pricing = '{"markup_percent": "10", "prices": []}', customer_estimated_amount = 2, customer_reserved_amount = 2, settled_amount = $2
       WHERE job_id = $1`,
      [uuid, upstreamAmount],
    ],
    ['UPDATE job_rollups SET amount = $2, customer_amount = 2 WHERE job_id = $1', [uuid, upstreamAmount]],
    [
      'UPDATE job_progress SET settled_amount = $2, customer_settled_amount = 2 WHERE job_id = $1',
      [uuid, upstreamAmount],
    ],
    [
      `INSERT INTO item_outcomes (bucket, job_id, item_no, seq, shard, attempt, state, failure_class, error_code, input_tokens,
         cached_input_tokens, cache_write_tokens, long_cache_write_tokens, output_tokens, reasoning_tokens, usage_estimated, amount, customer_amount, model)
       SELECT $3, $1, 4, 4, 1, 1, 2, '', '', 10, 0, 0, 0, 5, 0, false, $2, 2, 'gpt-4o-mini'`,
      [uuid, upstreamAmount, bucket],
    ],
  ];
  for (const [sql, values] of planted) await db.pool.query(sql, values);
  expect((await world.admin.get(`/v1/batch-jobs/${world.jobs.ended}`)).text).toContain(upstreamAmount);
  expect(tellsOf(await readEverything(world.customer), [upstreamAmount])).toEqual([]);
});
