import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { CancelJob } from '../../contracts/cancel-job.ts';
import { CreateJob } from '../../contracts/create-job.ts';
import type { ErrorEnvelope } from '../../contracts/error.ts';
import { AppendItems } from '../../contracts/item.ts';
import type { BatchJob } from '../../contracts/job.ts';
import type { LedgerPage } from '../../contracts/ledger-entry.ts';
import { OperatorCancel, OperatorGiveUp, OperatorReIngest, OperatorResolve } from '../../contracts/operator-act.ts';
import type { LedgerVerification } from '../../contracts/operator-job.ts';
import { RefundItem } from '../../contracts/refund.ts';
import { RetryJob } from '../../contracts/retry-job.ts';
import { SubmitJob } from '../../contracts/submit-job.ts';
import type { Result } from '../results/result-line.ts';
import { counts, fakeJob, fakeOperatorJob, fakeResult, fakeSample } from './fake-job.ts';

/** What a test arranges and looks at. */
export interface FakeGateway {
  readonly url: string;
  /** The last one made; the others are kept beside it. */
  job: BatchJob | null;
  /** What each was made of, newest last. */
  readonly created: CreateJob[];
  readonly retries: RetryJob[];
  /** Each line of the last manifest; null for a blank one. */
  manifest: (unknown | null)[];
  /** Calls as `GET /path?query`, and the keys they came with. */
  readonly calls: string[];
  readonly keys: string[];
  /** Answered to the operation's next call, once each, before anything else. */
  readonly refusals: {
    readonly operation: string;
    readonly status: number;
    readonly envelope: Partial<ErrorEnvelope>;
  }[];
  /** How every job goes on, a step for each look at its status. */
  steps: Partial<BatchJob>[];
  /** The same by what a job was made of, where jobs go on differently. */
  stepsOf: ((created: CreateJob) => Partial<BatchJob>[]) | null;
  /** The result of an item, given its custom id. */
  toResult: (customId: string) => Result;
  ledger: LedgerPage['data'];
  verification: LedgerVerification;
  close(): Promise<void>;
}

const Item = AppendItems.shape.items.element;
const ENDED: readonly string[] = ['completed', 'completed_with_errors', 'expired', 'cancelled', 'failed'];
const RESULTS_A_PAGE = 2;

/** A gateway whose jobs (job_1, job_2, …) do as they are told, over real HTTP. */
export async function startFakeGateway(): Promise<FakeGateway> {
  const app = new Hono();
  const { promise: port, resolve } = Promise.withResolvers<number>();
  const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, (info) => resolve(info.port));
  const fake: FakeGateway = {
    url: `http://127.0.0.1:${await port}`,
    job: null,
    created: [],
    retries: [],
    manifest: [],
    calls: [],
    keys: [],
    refusals: [],
    steps: [],
    stepsOf: null,
    toResult: (customId) => fakeResult(customId),
    ledger: [],
    verification: { ok: true, jobs: 1, items: 2, differences: [] },
    close: () => new Promise((done) => server.close(() => done())),
  };
  addRoutes(app, fake);
  return fake;
}

function addRoutes(app: Hono, fake: FakeGateway): void {
  app.use(async (c, next) => {
    const { pathname, search } = new URL(c.req.url);
    fake.calls.push(`${c.req.method} ${pathname}${decodeURIComponent(search)}`);
    fake.keys.push(c.req.header('authorization')?.replace('Bearer ', '') ?? '');
    const operation = `${c.req.method} ${pathname.split('/').at(-1)}`;
    const index = fake.refusals.findIndex((refusal) => refusal.operation === operation);
    const [refusal] = index === -1 ? [] : fake.refusals.splice(index, 1);
    if (refusal === undefined) return next();
    await c.req.arrayBuffer();
    const envelope = { error: 'internal', message: 'refused', request_id: 'req_1', ...refusal.envelope };
    return c.json(envelope, { status: refusal.status as 400 });
  });
  addWrites(app, fake);
  addReads(app, fake);
}

/** A job that is not the last one made, with what was left of it then. */
interface Older {
  readonly job: BatchJob;
  readonly manifest: FakeGateway['manifest'];
  readonly steps: FakeGateway['steps'];
}

/** Turns to the job a path names, so that all the rest need only know the one in front. */
function turnTo(fake: FakeGateway, older: Map<string, Older>, id: string): void {
  const wanted = older.get(id);
  if (fake.job === null || fake.job.job_id === id || wanted === undefined) return;
  older.set(fake.job.job_id, { job: fake.job, manifest: fake.manifest, steps: fake.steps });
  older.delete(id);
  Object.assign(fake, wanted);
}

function addWrites(app: Hono, fake: FakeGateway): void {
  const older = new Map<string, Older>();
  const answer = () => fake.job ?? fakeJob();
  let script: FakeGateway['steps'] = [];

  for (const path of ['/v1/batch-jobs/:id/*', '/v1/operator/jobs/:id/*']) {
    app.use(path, async (c, next) => {
      turnTo(fake, older, c.req.param('id') ?? '');
      await next();
    });
  }
  app.post('/v1/batch-jobs', async (c) => {
    const created = CreateJob.parse(await c.req.json());
    fake.created.push(created);
    const { endpoint, model, name = null, metadata = {} } = created;
    if (fake.created.length === 1) script = [...fake.steps];
    else if (fake.job !== null) {
      older.set(fake.job.job_id, { job: fake.job, manifest: fake.manifest, steps: fake.steps });
      fake.steps = [...script];
    }
    fake.steps = fake.stepsOf?.(created) ?? fake.steps;
    fake.job = fakeJob({ job_id: `job_${fake.created.length}`, endpoint, model, name, metadata });
    return c.json(fake.job, 201);
  });
  app.put('/v1/batch-jobs/:id/manifest', async (c) => {
    const lines = (await c.req.text()).split('\n').slice(0, -1);
    fake.manifest = lines.map((line) => (line === '' ? null : Item.parse(JSON.parse(line))));
    const total = lines.filter((line) => line !== '').length;
    fake.job = { ...answer(), counts: counts(total, { submitted: 0 }) };
    return c.json({ accepted: total, duplicates: 0, total });
  });
  app.post('/v1/batch-jobs/:id/submit', async (c) => {
    const { sample } = SubmitJob.parse(await c.req.json());
    const draft = answer();
    if (sample !== undefined) {
      older.set(draft.job_id, { job: draft, manifest: fake.manifest, steps: [] });
      fake.manifest = fake.manifest.slice(0, sample);
      fake.job = fakeSample(draft, sample);
    }
    fake.job = { ...answer(), status: 'queued', submitted_at: '2026-08-19T10:05:00.000Z' };
    return c.json(fake.job, 202);
  });
  app.post('/v1/batch-jobs/:id/cancel', async (c) => {
    const { reason = null } = CancelJob.parse(await c.req.json());
    const cancel = { requested_at: '2026-08-19T10:06:00.000Z', by: 'key_1', reason, outcome: null };
    fake.job = { ...answer(), status: 'cancel_requested', cancel };
    return c.json(fake.job, 202);
  });
  app.post('/v1/batch-jobs/:id/retry', async (c) => {
    const retry = RetryJob.parse(await c.req.json());
    fake.retries.push(retry);
    const of = answer();
    const items = retry.custom_ids?.length ?? of.counts.failed;
    const status = retry.submit === true ? 'queued' : 'draft';
    return c.json(
      { ...of, job_id: `${of.job_id}_retry`, status, counts: counts(items), retry_of_job_id: of.job_id },
      201,
    );
  });
  app.delete('/v1/batch-jobs/:id', (c) => {
    fake.job = null;
    return c.body(null, 204);
  });
  app.get('/v1/batch-jobs', (c) => c.json({ data: fake.job === null ? [] : [fake.job], next_cursor: null }));
  app.get('/v1/batch-jobs/:id', (c) => {
    const step = fake.steps.shift();
    if (step !== undefined) fake.job = { ...answer(), ...step };
    return c.json(answer());
  });
}

function addReads(app: Hono, fake: FakeGateway): void {
  app.get('/v1/batch-jobs/:id/results', (c) => {
    const ids = fake.manifest.flatMap((item) => (item === null ? [] : [(item as { custom_id: string }).custom_id]));
    const { completed = 0, failed = 0, expired = 0, cancelled = 0 } = fake.job?.counts ?? {};
    const settled = ids.slice(0, completed + failed + expired + cancelled);
    const start = Number(c.req.query('cursor') ?? 0);
    const page = settled.slice(start, start + RESULTS_A_PAGE);
    const end = start + page.length;
    const isOver = end === settled.length && ENDED.includes(fake.job?.status ?? '');
    return c.json({ data: page.map(fake.toResult), next_cursor: isOver ? null : String(end) });
  });
  app.get('/v1/batch-jobs/:id/items', (c) => {
    const customId = c.req.query('custom_id') ?? '';
    return c.json({ ...fake.toResult(customId), created_at: '2026-08-19T10:00:00.000Z', retry_chain: [] });
  });
  app.get('/v1/batch-jobs/:id/ledger', (c) => c.json({ data: fake.ledger, next_cursor: null }));
  app.get('/v1/budgets', (c) => {
    const alerts = { alert_percents: [80, 100], alerts: [] };
    const amounts = {
      limit: '1000.00',
      held: '0.05',
      settled: '0.25',
      available: '999.70',
      currency: 'USD',
      ...alerts,
    };
    const budget = { scope: 'tenant', scope_id: 'tenant_local', period: 'total', period_start: null, ...amounts };
    return c.json({ data: [budget], as_of: '2026-08-19T10:00:00.000Z' });
  });
  app.post('/v1/batch-jobs/:id/validate', (c) => {
    const finding = { error: 'model_unknown', message: 'Unknown model.', field: 'model', items: 0, details: [] };
    const isKnown = fake.job?.model === 'analysis-small';
    const findings = isKnown ? [] : [finding];
    return c.json({ ok: isKnown, findings, target: null, rejected_targets: [], estimate: null, budgets: [] });
  });
  app.get('/readyz', (c) => c.json({ status: 'ready' }));
  app.get('/v1/operator/jobs/:id', (c) => c.json(fakeOperatorJob(fake.job ?? fakeJob())));
  app.get('/v1/operator/ledger/verify', (c) => c.json(fake.verification));
  app.post('/v1/operator/jobs/:id/items/refund', async (c) => {
    const { reason, amount = '0.50' } = RefundItem.parse(await c.req.json());
    return c.json({
      job_id: c.req.param('id'),
      item_id: 'item_1',
      custom_id: c.req.query('custom_id'),
      charged: '0.50',
      refunded: amount,
      currency: 'USD',
      reason,
      actor: 'key_operator',
      refunded_at: '2026-08-19T10:00:00.000Z',
    });
  });
  for (const path of ['/v1/operator/adjustments/preview', '/v1/operator/adjustments']) {
    app.post(path, async (c) => {
      const isImport = c.req.query('confirm') === 'true';
      const [, line = ''] = (await c.req.text()).split('\n');
      const [provider, provider_batch_id, billed, currency] = line.split(',');
      const batch = { provider, provider_batch_id, billed, currency };
      return c.json({
        invoice: c.req.query('invoice'),
        account: c.req.query('charge_tenant') === 'true' ? 'tenant' : 'gateway',
        newly_posted: isImport ? 1 : 0,
        batches: [
          {
            ...batch,
            job_id: 'job_1',
            tenant_id: 'tenant_a',
            shard: 1,
            attempt: 1,
            status: isImport ? 'posted' : 'differs',
            charged: '1.00',
            difference: '0.25',
            posted_at: null,
          },
        ],
        unknown: [{ ...batch, provider_batch_id: 'batch_x' }],
      });
    });
  }
  app.post('/v1/operator/jobs/:id/cancel', async (c) => {
    const { reason } = OperatorCancel.parse(await c.req.json());
    const cancel = { requested_at: '2026-08-19T10:06:00.000Z', by: 'key_1', reason, outcome: null };
    return c.json({ ...(fake.job ?? fakeJob()), status: 'cancel_requested', cancel }, 202);
  });
  const acts = { 'give-up': OperatorGiveUp, 're-ingest': OperatorReIngest, resolve: OperatorResolve };
  for (const [act, schema] of Object.entries(acts)) {
    app.post(`/v1/operator/jobs/:id/${act}`, async (c) => {
      const { shard } = schema.parse(await c.req.json());
      return c.json(
        { job_id: c.req.param('id'), shards: shard === undefined ? [1, 2] : [shard], signalled: true },
        202,
      );
    });
  }
  app.post('/v1/operator/jobs/:id/poll-now', (c) => c.json({ job_id: c.req.param('id'), signalled: true }));
}
