import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApiDocument } from '../../../api/openapi.ts';
import { jobIdOf, newId } from '../../../db/ids.ts';
import type { JobRow } from '../../../db/job-rows.ts';
import type { JobKind } from '../../../domain/job-kind.ts';
import { type ApiCaller, createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { ROUTE_CHECKS } from '../isolation/route-table.ts';
import { endedLedgerJob, type LedgerJob, runningLedgerJob } from '../ledger/ledger-job.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);

/** Calls that need more than a path to come as far as the job. */
const OPERATOR_BODIES: Readonly<Record<string, unknown>> = {
  operator_cancel: { reason: 'none of these' },
  operator_give_up: { reason: 'none of these' },
  operator_re_ingest: {},
  operator_resolve: { shard: 1, none: true, reason: 'none of these' },
  operator_refund_item: { reason: 'none of these' },
  operator_refund_item_by_query: { reason: 'none of these' },
};

const ROUTES = Object.entries(openApiDocument(api.app).paths ?? {})
  .filter(([path]) => path.includes('{job_id}'))
  .flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => ({
      operation: String(operationId),
      method: method.toUpperCase(),
      path,
      isOperators: path.startsWith('/v1/operator/'),
    })),
  );

let tenant: LedgerJob['tenant'];
let others: readonly JobRow[];
let owner: ApiCaller;
let operator: ApiCaller;
beforeAll(async () => {
  const of = async (kind: Exclude<JobKind, 'batch'>) => {
    const running = await runningLedgerJob(db, { kind, ...(tenant !== undefined && { tenant }) });
    tenant = running.tenant;
    const ended = await endedLedgerJob(db, { kind, tenant }, [{ input: 100, output: 10 }]);
    return [running.job, ended.job];
  };
  others = [...(await of('task')), ...(await of('document'))];
  owner = await api.caller('tenant_admin', { tenantId: tenant.tenantId });
  operator = await api.caller('operator');
});

/** Its own id, and its uuid as a batch job's would be written. */
const idsOf = ({ jobId, key }: JobRow) => [jobId, jobIdOf({ kind: 'batch', uuid: key.uuid })];

/** Operators know the batch of a run by its id, as tests/integration/documents/operator-acts.test.ts shows. */
const unknownTo = (isOperator: boolean) => others.flatMap(idsOf).filter((id) => !(isOperator && id.startsWith('run_')));

async function rows(): Promise<unknown[]> {
  const ids = others.map(({ key }) => key.uuid);
  const tables = ['batch_jobs', 'batch_shards', 'job_progress', 'holds'];
  const found = await Promise.all(
    tables.map((table) =>
      db.pool.query(`SELECT to_jsonb(t)::text AS row FROM ${table} t WHERE job_id = ANY($1) ORDER BY 1`, [ids]),
    ),
  );
  return found.flatMap((result) => result.rows);
}

test('routes of batch jobs are of tenants and of operators', () => {
  expect(new Set(ROUTES.map(({ isOperators }) => isOperators))).toEqual(new Set([true, false]));
});

describe.each(ROUTES)('$operation', ({ operation, method, path, isOperators }) => {
  test('answers the id of a task or of a run as one that never was, and changes nothing', async () => {
    const check = ROUTE_CHECKS[operation];
    const call =
      check?.kind === 'object'
        ? (check.call ?? {})
        : { json: OPERATOR_BODIES[operation] ?? { reason: 'none of these' } };
    const query = operation.endsWith('_by_query') ? '?custom_id=row_1' : '';
    const caller = isOperators ? operator : owner;
    const ask = async (id: string) => {
      const named = path
        .replace('{job_id}', id)
        .replace('{custom_id}', 'row_1')
        .replace(/\{\w+\}/g, '1');
      const body = method === 'GET' || method === 'DELETE' ? {} : call;
      const { status, text } = await caller.call(method, `${named}${query}`, body);
      return { status, text: text.replace(/"req_[0-9a-z]+"/, '""') };
    };
    const before = await rows();
    const unknown = await ask(newId('job'));
    expect(unknown.status).toBe(404);
    for (const id of unknownTo(isOperators)) expect([id, await ask(id)]).toEqual([id, unknown]);
    expect(await rows()).toEqual(before);
  });
});

test('lists of batch jobs leave the others out', async () => {
  expect((await owner.get('/v1/batch-jobs')).json.data).toEqual([]);
});

test('a schedule copies the items of no task or run', async () => {
  for (const id of others.flatMap(idsOf)) {
    const { status, json } = await owner.post('/v1/batch-schedules', {
      name: 'copies',
      schedule: { every_seconds: 3_600 },
      job: { endpoint: 'chat.completions', model: 'openai/gpt-4o-mini' },
      items: { manifest_of_job: id },
    });
    expect([status, json.field]).toEqual([404, 'items.manifest_of_job']);
  }
});
