import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FocusRow } from '../../../contracts/focus-row.ts';
import type { ItemUsageRecord, JobUsage } from '../../../contracts/usage-record.ts';
import { JOB_KINDS, type JobKind } from '../../../domain/job-kind.ts';
import { type ApiCaller, createTestApi } from '../../harness/api.ts';
import { insertTenant } from '../../harness/jobs.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { endedLedgerJob, type LedgerJob, refund, runningLedgerJob } from '../ledger/ledger-job.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);

type Record = JobUsage | ItemUsageRecord;

let caller: ApiCaller;
let jobs: { readonly [kind in JobKind]: LedgerJob };
beforeAll(async () => {
  const tenant = await insertTenant(db);
  const of = (kind: JobKind) =>
    endedLedgerJob(db, { kind, tenant, outputTokens: 1_000 }, [{ input: 1_000_000, output: 1_000 }]);
  jobs = { batch: await of('batch'), task: await of('task'), document: await of('document') };
  await refund(db, jobs.task, 1, 100_000_000_000n);
  await runningLedgerJob(db, { kind: 'task', tenant });
  caller = await api.caller('tenant_admin', { tenantId: tenant.tenantId });
});

const COST = { batch: '0.0753', task: '0.0506', document: '0.1506' } as const;
const idsOf = (records: readonly Record[]) => new Set(records.map(({ job_id: id }) => id));

test.each(['job', 'item'] as const)(
  'records of level %s say of what kind they are, under its own id',
  async (level) => {
    const { json } = await caller.get(`/v1/usage?level=${level}`);
    const records: Record[] = json.data;
    expect(records).toHaveLength(4);
    for (const kind of JOB_KINDS) {
      const own = records.filter(({ job_kind: of }) => of === kind);
      expect(idsOf(own)).toEqual(new Set([jobs[kind].job.jobId]));
      if (level === 'job')
        for (const { record_id: id } of own) expect(id.startsWith(`${jobs[kind].job.jobId}.`)).toBe(true);
    }
    expect(new Set(records.map(({ record_id: id }) => id)).size).toBe(4);
  },
);

test.each(['job', 'item'] as const)('pages of level %s go through jobs of every kind', async (level) => {
  const { json: whole } = await caller.get(`/v1/usage?level=${level}`);
  const paged: Record[] = [];
  for (let cursor = ''; ; ) {
    const { json } = await caller.get(`/v1/usage?level=${level}&limit=1${cursor}`);
    paged.push(...json.data);
    if (json.next_cursor === null) break;
    cursor = `&cursor=${json.next_cursor}`;
  }
  expect(paged).toEqual(whole.data);
});

test.each(JOB_KINDS)('job_kind=%s leaves the others out, in every format', async (kind) => {
  const wanted = new Set([jobs[kind].job.jobId]);
  for (const more of ['', '&level=item', '&from=2020-01-01T00:00:00Z', '&since=start']) {
    const { json } = await caller.get(`/v1/usage?job_kind=${kind}${more}`);
    expect([more, idsOf(json.data)]).toEqual([more, wanted]);
  }
  const ndjson = await caller.get(`/v1/usage?job_kind=${kind}&format=ndjson`);
  const lines: Record[] = ndjson.text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(idsOf(lines)).toEqual(wanted);
  const csv = await caller.get(`/v1/usage?job_kind=${kind}&format=csv&level=item`);
  const rows: { job_id: string; job_kind: string }[] = parse(csv.text, { columns: true });
  expect(new Set(rows.map((row) => `${row.job_kind} ${row.job_id}`))).toEqual(
    new Set([`${kind} ${jobs[kind].job.jobId}`]),
  );
});

test('sums go by job_kind, net of refunds, each at its own price', async () => {
  const { json } = await caller.get('/v1/usage?group_by=job_kind');
  const costs = json.data.map(({ group, cost }: { group: { job_kind: string }; cost: string }) => [
    group.job_kind,
    cost,
  ]);
  expect(Object.fromEntries(costs)).toEqual(COST);
  const one = await caller.get('/v1/usage?group_by=model&job_kind=task');
  expect(one.json.data).toMatchObject([{ group: { model: 'gpt-4o-mini' }, cost: COST.task }]);
});

test('an unknown job_kind is refused', async () => {
  for (const path of ['/v1/usage', '/v1/analytics/items']) {
    const { status, json } = await caller.get(`${path}?job_kind=single`);
    expect([status, json.field]).toEqual([400, 'job_kind']);
  }
});

test('a FOCUS export calls each kind by its name and price', async () => {
  const { text } = await caller.get('/v1/usage?format=focus&level=item');
  const cells: { readonly [name: string]: string }[] = parse(text, { columns: true });
  const rows = cells.map((row) =>
    FocusRow.parse(Object.fromEntries(Object.entries(row).map(([name, cell]) => [name, cell === '' ? null : cell]))),
  );
  const told = rows.map(({ x_JobKind, x_JobId, ResourceType, ServiceName, SkuPriceId }) =>
    [x_JobKind, x_JobId, ResourceType, ServiceName, SkuPriceId].join(' | '),
  );
  const of = (kind: JobKind, ...rest: string[]) => [kind, jobs[kind].job.jobId, ...rest].join(' | ');
  expect(new Set(told)).toEqual(
    new Set([
      of('batch', 'Batch item', 'Batch chat.completions', 'openai/gpt-4o-mini/batch'),
      of('task', 'Task', 'Task chat.completions', 'openai/gpt-4o-mini/standard'),
      of('document', 'Document', 'Document chat.completions', 'openai/gpt-4o-mini/standard'),
    ]),
  );
});

test('analytics count every kind, and one where it is asked for', async () => {
  const { json: all } = await caller.get('/v1/analytics/items?group_by=job_kind');
  expect(all.data).toMatchObject([
    { group: { job_kind: 'batch' }, completed: 1, pending: 0 },
    { group: { job_kind: 'document' }, completed: 1, pending: 0 },
    { group: { job_kind: 'task' }, completed: 1, pending: 1 },
  ]);
  for (const kind of JOB_KINDS) {
    const { json } = await caller.get(`/v1/analytics/costs?job_kind=${kind}`);
    expect([kind, json.data]).toMatchObject([kind, [{ settled: COST[kind], ended_jobs: 1 }]]);
    const tokens = await caller.get(`/v1/analytics/tokens?job_kind=${kind}`);
    expect(tokens.json.data).toMatchObject([{ items: 1, input_tokens: 1_000_000 }]);
    const durations = await caller.get(`/v1/analytics/durations?job_kind=${kind}`);
    expect(durations.json.data).toMatchObject([{ ended: 1 }]);
  }
  const held = await caller.get('/v1/analytics/costs?group_by=job_kind');
  const open = held.json.data.find((row: { group: { job_kind: string } }) => row.group.job_kind === 'task');
  expect(open.held).not.toBe('0.00');
});

test('refused submissions are those of batch jobs', async () => {
  const refused = await caller.post(`/v1/batch-jobs/${await caller.draft(1, { max_cost: '0.000000000001' })}/submit`);
  expect(refused.status).toBe(402);
  const { json } = await caller.get('/v1/analytics/failures?group_by=job_kind');
  expect(json.refusals).toMatchObject([{ group: { job_kind: 'batch' }, submissions: 1 }]);
  expect((await caller.get('/v1/analytics/failures?job_kind=task')).json.refusals).toEqual([]);
});
