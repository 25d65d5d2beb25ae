import { MockActivityEnvironment } from '@temporalio/testing';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { renewDocumentLease } from '../../../db/run-documents.ts';
import { lawHolds } from '../../../domain/ledger-entry.ts';
import { ProviderError } from '../../../providers/provider-error.ts';
import type { ApiCaller } from '../../harness/api.ts';
import { completionOf, ONE_ROW, rowsOf, TestRuns, USAGE } from '../../harness/document-runs.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { createTestFolder, fileOf, upload } from './document-fixture.ts';

const { db, drop } = await createTestDatabase();
const folder = createTestFolder();
afterAll(async () => {
  await drop();
  folder.remove();
});

let runs: TestRuns;
let caller: ApiCaller;
beforeEach(async () => {
  runs = new TestRuns(db, folder.store);
  caller = await runs.caller();
});

const BODY = { columns: [{ name: 'vendor' }], model: 'openai/gpt-4o-mini' };

async function uploaded(...texts: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const text of texts) ids.push((await upload(caller, 'b', text)).json.id);
  return ids;
}

function statesOf(documents: readonly { status: string }[]): string[] {
  return documents.map(({ status }) => status);
}

/** Moves the first document once and nothing else. */
async function attempted(runId: string) {
  const step = await runs.attempt(runId);
  const [document] = await runs.documents(caller, 'b');
  return { step, document };
}

describe('a run in direct mode', () => {
  test('gives the rows of each document, with its times, and ends with its event', async () => {
    await uploaded('one', 'second-of-them', 'three');
    runs.provider.onAsk = (request) =>
      request.includes('second-of-them') ? rowsOf({ vendor: 'B', total: '1.234,50' }, { vendor: 'C' }) : ONE_ROW;
    const runId = await runs.process(caller, 'b');
    expect(await runs.untilWaiting(runId)).toEqual({ kind: 'over' });
    const documents = await runs.documents(caller, 'b');
    expect(statesOf(documents)).toEqual(['succeeded', 'succeeded', 'succeeded']);
    expect(documents[1].line_items).toEqual([
      { vendor: 'B', total: '1234.50' },
      { vendor: 'C', total: null },
    ]);
    expect(documents[0].provenance).toEqual([{ page: 1, confidence: 0.9 }]);
    for (const { created_at, started_at, completed_at } of documents) {
      expect(created_at <= started_at).toBe(true);
      expect(started_at <= completed_at).toBe(true);
    }
    expect(await runs.events(caller)).toEqual([
      {
        ...{ run_id: runId, batch_name: 'b', customer_id: null, status: 'succeeded', all_done: true },
        counts: { queued: 0, processing: 0, succeeded: 3, failed: 0, canceled: 0 },
      },
    ]);
    expect(await runs.untilWaiting(runId)).toEqual({ kind: 'over' });
    expect(await runs.events(caller)).toHaveLength(1);
  });

  test('is charged for each answer at the standard price, and gives back what it does not need', async () => {
    await uploaded('one', 'two');
    const runId = await runs.process(caller, 'b');
    await runs.untilWaiting(runId);
    const [money] = await runs.money(runId);
    // gpt-4o-mini: 0.15 and 0.60 for a million tokens.
    expect(money?.settled).toBe(2n * (100n * 150_000n + 20n * 600_000n));
    expect(money).toMatchObject({ state: 'completed', held: 0n });
    expect(money?.reserved).toBe((money?.settled ?? 0n) + (money?.released ?? 0n));
    expect(money?.events).toEqual(
      ['estimated', 'item.settled', 'reconciled', 'released', 'reserved'].map((act) => `document.${act}`),
    );
    const usage = await caller.get('/v1/usage?from=2000-01-01T00:00:00Z&to=2100-01-01T00:00:00Z&level=job');
    expect(usage.text).toContain(runId);
  });

  test('asks once more with the reply and its problems, and charges both in one', async () => {
    await uploaded('one');
    runs.provider.onAsk = (request) => (request.includes('does not fit') ? ONE_ROW : rowsOf({ total: 'much' }));
    const runId = await runs.process(caller, 'b');
    await runs.untilWaiting(runId);
    const [document] = await runs.documents(caller, 'b');
    expect(document).toMatchObject({ status: 'succeeded', line_items: [{ vendor: 'Acme', total: '12.50' }] });
    expect(runs.provider.completes).toHaveLength(2);
    const second = JSON.stringify(runs.provider.completes[1]?.request);
    expect(second).toContain('rows[0].vendor: is required');
    expect(second).toContain('much');
    const [money] = await runs.money(runId);
    expect(money?.settled).toBe(2n * (100n * 150_000n + 20n * 600_000n));
    const { rows } = await db.pool.query('SELECT count(*)::int AS left FROM document_repairs');
    expect(rows).toEqual([{ left: 0 }]);
  });

  test('fails with rows_do_not_fit where the second does not fit either, and is not asked a third time', async () => {
    await uploaded('one');
    runs.provider.onAsk = () => 'no JSON';
    const runId = await runs.process(caller, 'b');
    await runs.untilWaiting(runId);
    const [document] = await runs.documents(caller, 'b');
    expect(document).toMatchObject({
      status: 'failed',
      line_items: null,
      processing_error: { code: 'rows_do_not_fit' },
    });
    expect(runs.provider.completes).toHaveLength(2);
    expect((await runs.money(runId))[0]?.settled).toBe(2n * (100n * 150_000n + 20n * 600_000n));
  });

  test('is not asked again about a reply that was cut off', async () => {
    await uploaded('one');
    runs.provider.onAsk = () => ({
      ...{ kind: 'completed', usage: USAGE, model: null },
      body: completionOf('{"rows":[{"vend', 'length'),
    });
    await runs.untilWaiting(await runs.process(caller, 'b'));
    expect((await runs.documents(caller, 'b'))[0].processing_error.code).toBe('reply_cut_off');
    expect(runs.provider.completes).toHaveLength(1);
  });

  test('stays processing over failures of the moment, and fails once they were too many', async () => {
    await uploaded('one');
    runs.provider.onComplete = async () => {
      throw new ProviderError({
        code: 'rate_limited',
        message: 'busy',
        isRetryable: true,
        mayHaveActed: false,
        retryAfterMs: 5_000,
      });
    };
    const runId = await runs.process(caller, 'b');
    const first = await attempted(runId);
    expect(first.document).toMatchObject({ status: 'processing', completed_at: null });
    const startedAt = first.document.started_at;
    const { step } = await attempted(runId);
    expect(step).toMatchObject({ kind: 'wait' });
    expect(step.kind === 'wait' && step.delayMs).toBeGreaterThanOrEqual(5_000);
    await runs.untilWaiting(runId);
    const [document] = await runs.documents(caller, 'b');
    expect(document).toMatchObject({
      status: 'failed',
      started_at: startedAt,
      processing_error: { code: 'provider_failed' },
    });
    expect(runs.provider.completes).toHaveLength(3);
    expect((await runs.money(runId))[0]).toMatchObject({ settled: 0n, held: 0n });
  });

  test('takes a repair up again after a failure of the moment, without asking the first question anew', async () => {
    await uploaded('one');
    let asked = 0;
    const answer = runs.provider.onComplete;
    runs.provider.onAsk = (request) => (request.includes('does not fit') ? ONE_ROW : 'no JSON');
    runs.provider.onComplete = async (input) => {
      asked += 1;
      if (asked === 2)
        throw new ProviderError({ code: 'timed_out', message: 'late', isRetryable: true, mayHaveActed: true });
      return answer(input);
    };
    const runId = await runs.process(caller, 'b');
    await runs.untilWaiting(runId);
    expect((await runs.documents(caller, 'b'))[0].status).toBe('succeeded');
    expect(asked).toBe(3);
    expect((await runs.money(runId))[0]?.settled).toBe(2n * (100n * 150_000n + 20n * 600_000n));
  });

  test('fails what the provider refuses or blocks, each with its code, while the others go on', async () => {
    await uploaded('refused', 'blocked', 'fine');
    const failed = { kind: 'failed', message: 'x', nativeType: null, nativeCode: null, statusCode: 400 } as const;
    runs.provider.onAsk = (request) => {
      if (request.includes('refused')) return { ...failed, class: 'validation', code: 'invalid_request' };
      if (request.includes('blocked'))
        return { ...failed, class: 'safety_blocked', code: 'safety_blocked', usage: USAGE };
      return ONE_ROW;
    };
    const runId = await runs.process(caller, 'b');
    await runs.untilWaiting(runId);
    const documents = await runs.documents(caller, 'b');
    expect(
      documents.map((one: { processing_error: { code: string } | null }) => one.processing_error?.code ?? null),
    ).toEqual(['request_refused', 'safety_blocked', null]);
    const [money] = await runs.money(runId);
    expect(money).toMatchObject({ state: 'completed_with_errors', held: 0n });
    expect(money?.settled).toBe(2n * (100n * 150_000n + 20n * 600_000n));
    expect((await caller.get('/v1/batches/b')).json).toMatchObject({ status: 'succeeded', all_done: true });
  });

  test('queues what failed again in a new run, and leaves what succeeded alone', async () => {
    await uploaded('bad', 'good');
    runs.provider.onAsk = (request) => (request.includes('bad') ? 'no JSON' : ONE_ROW);
    const first = await runs.process(caller, 'b');
    await runs.untilWaiting(first);
    runs.provider.onAsk = () => ONE_ROW;
    await uploaded('new');
    const second = await runs.process(caller, 'b', { include: 'failed' });
    const [queued, kept] = await runs.documents(caller, 'b');
    expect(queued).toMatchObject({
      status: 'queued',
      started_at: null,
      completed_at: null,
      processing_error: null,
      run_id: second,
    });
    expect(kept).toMatchObject({ status: 'succeeded', run_id: first });
    expect((await caller.get('/v1/batches/b')).json).toMatchObject({
      status: 'processing',
      all_done: false,
      completed_at: null,
    });
    await runs.untilWaiting(second);
    expect(statesOf(await runs.documents(caller, 'b'))).toEqual(['succeeded', 'succeeded', 'succeeded']);
    expect((await runs.events(caller)).map(({ run_id, status }) => [run_id, status])).toEqual([
      [first, 'succeeded'],
      [second, 'succeeded'],
    ]);
    await runs.money(first);
    await runs.money(second);
  });

  test('takes documents of a worker that was lost up again, and what that one still brings changes nothing', async () => {
    await uploaded('one');
    const runId = await runs.process(caller, 'b');
    const answer = runs.provider.onComplete;
    runs.provider.onComplete = async () => {
      runs.provider.onComplete = answer;
      runs.advance(60_000);
      await runs.attempt(runId);
      return { kind: 'completed', body: completionOf(rowsOf({ vendor: 'late' })), usage: USAGE, model: null };
    };
    await runs.attempt(runId);
    expect((await runs.documents(caller, 'b'))[0].line_items).toEqual([{ vendor: 'Acme', total: '12.50' }]);
    expect((await runs.money(runId))[0]?.settled).toBe(100n * 150_000n + 20n * 600_000n);
  });

  test('fails a document that the model refuses to read, without asking again', async () => {
    await uploaded('by refusal', 'by filter');
    const message = { role: 'assistant', content: null, refusal: 'I cannot help with that.' };
    runs.provider.onComplete = async ({ request }) => {
      const choice = JSON.stringify(request).includes('by refusal')
        ? { index: 0, message, finish_reason: 'stop' }
        : { index: 0, message: { role: 'assistant', content: '{"rows":[{"ven' }, finish_reason: 'content_filter' };
      return { kind: 'completed', body: JSON.stringify({ choices: [choice] }), usage: USAGE, model: null };
    };
    const runId = await runs.process(caller, 'b');
    await runs.untilWaiting(runId);
    const codes = (await runs.documents(caller, 'b')).map(
      ({ processing_error: error }: { processing_error: { code: string } | null }) => error?.code,
    );
    expect(codes).toEqual(['safety_blocked', 'safety_blocked']);
    expect(runs.provider.completes).toHaveLength(2);
    expect((await runs.money(runId))[0]).toMatchObject({ settled: 2n * (100n * 150_000n + 20n * 600_000n), held: 0n });
  });

  test('what a lost worker brings from the run before changes nothing of the next', async () => {
    await uploaded('one');
    const first = await runs.process(caller, 'b');
    const { onComplete } = runs.provider;
    runs.provider.onComplete = async () => {
      // Another worker fails the document, a new run takes it up, and is at its first attempt.
      runs.provider.onComplete = async () => {
        throw new ProviderError({ code: 'rejected', message: 'no', isRetryable: false, mayHaveActed: false });
      };
      runs.advance(60_000);
      await runs.untilWaiting(first);
      expect(statesOf(await runs.documents(caller, 'b'))).toEqual(['failed']);
      const second = await runs.process(caller, 'b', { include: 'failed' });
      runs.provider.onComplete = async () => {
        throw new Error('the worker died');
      };
      await runs.attempt(second).catch(() => undefined);
      return { kind: 'completed', body: completionOf(rowsOf({ vendor: 'late' })), usage: USAGE, model: null };
    };
    await runs.attempt(first);
    runs.provider.onComplete = onComplete;
    const [document] = await runs.documents(caller, 'b');
    expect(document).toMatchObject({ status: 'processing', line_items: null });
    runs.advance(60_000);
    await runs.untilWaiting(document.run_id);
    expect((await runs.documents(caller, 'b'))[0].line_items).toEqual([{ vendor: 'Acme', total: '12.50' }]);
    expect((await runs.money(first))[0]).toMatchObject({ settled: 0n, held: 0n });
    expect((await runs.money(document.run_id))[0]).toMatchObject({ held: 0n });
  });

  test('gives a document back when its worker stops, without counting that as a failure', async () => {
    await uploaded('one');
    const runId = await runs.process(caller, 'b');
    const context = new MockActivityEnvironment();
    const answer = runs.provider.onComplete;
    runs.provider.onComplete = async ({ signal }) => {
      context.cancel('WORKER_SHUTDOWN');
      expect(signal.aborted).toBe(true);
      throw new ProviderError({ code: 'aborted', message: 'stopped', isRetryable: true, mayHaveActed: true });
    };
    expect(await runs.attempt(runId, context)).toEqual({ kind: 'again' });
    runs.provider.onComplete = answer;
    const { rows } = await db.pool.query(
      'SELECT attempts, failures, state, leased_until FROM documents ORDER BY document_id DESC LIMIT 1',
    );
    expect(rows).toEqual([{ attempts: 1, failures: 0, state: 'processing', leased_until: null }]);
    await runs.untilWaiting(runId);
    expect((await runs.documents(caller, 'b'))[0].status).toBe('succeeded');
  });

  test('fails a document whose file is gone, or that was deleted, free of charge', async () => {
    const [id = ''] = await uploaded('one');
    const runId = await runs.process(caller, 'b');
    await folder.store.delete(await fileOf(db, id));
    await runs.untilWaiting(runId);
    expect((await runs.documents(caller, 'b'))[0].processing_error.code).toBe('file_unavailable');
    expect((await runs.money(runId))[0]).toMatchObject({ state: 'failed', settled: 0n, held: 0n });
  });

  test('keeps rows and files sealed where the policy keeps no content', async () => {
    caller = await runs.caller({ storage: 'hashes' });
    await uploaded('planted-secret-text');
    runs.provider.onAsk = () => rowsOf({ vendor: 'planted-secret-row' });
    const runId = await runs.process(caller, 'b');
    await runs.untilWaiting(runId);
    expect((await runs.documents(caller, 'b'))[0].line_items).toEqual([{ vendor: 'planted-secret-row', total: null }]);
    const { rows } = await db.pool.query(
      `SELECT (SELECT count(*)::int FROM document_rows WHERE line_items LIKE '%planted-secret%') AS rows,
         (SELECT count(*)::int FROM item_results WHERE body LIKE '%planted-secret%') AS results,
         (SELECT count(*)::int FROM item_requests WHERE body LIKE '%planted-secret%') AS requests`,
    );
    expect(rows).toEqual([{ rows: 0, results: 0, requests: 0 }]);
  });
});

test('the renewal of a lease that comes after the end of its attempt changes nothing', async () => {
  await uploaded('one');
  const runId = await runs.process(caller, 'b');
  runs.provider.onComplete = async () => {
    throw new ProviderError({ code: 'rate_limited', message: 'busy', isRetryable: true, mayHaveActed: false });
  };
  await runs.attempt(runId);
  const { rows } = await db.pool.query(
    'SELECT document_id AS uuid, attempts, next_attempt_at FROM documents ORDER BY document_id DESC LIMIT 1',
  );
  expect(rows[0].next_attempt_at).not.toBeNull();
  expect(await renewDocumentLease(db.pool, rows[0], new Date())).toBe(false);
});

test('what is canceled while a run is looked at is settled before the run ends', async () => {
  await uploaded('one', 'two');
  const runId = await runs.process(caller, 'b');
  let isFirst = true;
  const query = async (...asked: [string, unknown[]]) => {
    if (isFirst && asked[0].includes('"nextAttemptAt"')) {
      isFirst = false;
      await caller.call('DELETE', '/v1/batches/b');
    }
    return db.pool.query(...asked);
  };
  const pool = new Proxy(db.pool, { get: (of, name) => (name === 'query' ? query : Reflect.get(of, name, of)) });
  const looking = new TestRuns(db, folder.store, { db: { ...db, pool } });
  expect(await looking.review(runId)).toEqual({ kind: 'over' });
  expect(isFirst).toBe(false);
  expect((await runs.money(runId))[0]).toMatchObject({ state: 'cancelled', settled: 0n, held: 0n });
});

describe('DELETE of the batch while a run goes on', () => {
  test('cancels what was not begun, free of charge, and lets what is under way finish', async () => {
    await uploaded('one', 'two', 'three');
    const runId = await runs.process(caller, 'b');
    const answer = runs.provider.onComplete;
    runs.provider.onComplete = async (input) => {
      runs.provider.onComplete = answer;
      expect((await caller.call('DELETE', '/v1/batches/b')).status).toBe(200);
      return answer(input);
    };
    await runs.attempt(runId);
    expect(statesOf(await runs.documents(caller, 'b'))).toEqual(['succeeded', 'canceled', 'canceled']);
    expect(runs.api.workflows.calls).toContainEqual(['runChanged', runId]);
    expect(await runs.untilWaiting(runId)).toEqual({ kind: 'over' });
    const [money] = await runs.money(runId);
    expect(money).toMatchObject({ state: 'cancelled', held: 0n, settled: 100n * 150_000n + 20n * 600_000n });
    const { reserved = 0n, settled = 0n, released = 0n } = money ?? {};
    expect(lawHolds({ reserved, overage: 0n, settled, released, held: 0n })).toBe(true);
    expect((await runs.events(caller)).map(({ run_id, all_done }) => [run_id, all_done])).toEqual([[runId, true]]);
  });

  test('before anything was begun ends the run with all of them canceled', async () => {
    await uploaded('one', 'two');
    const runId = await runs.process(caller, 'b');
    await caller.call('DELETE', '/v1/batches/b');
    await caller.call('DELETE', '/v1/batches/b');
    expect(await runs.events(caller)).toEqual([]);
    expect(await runs.untilWaiting(runId)).toEqual({ kind: 'over' });
    expect(runs.provider.completes).toEqual([]);
    expect((await runs.money(runId))[0]).toMatchObject({ state: 'cancelled', settled: 0n, held: 0n });
    expect((await runs.events(caller)).map(({ run_id, status }) => [run_id, status])).toEqual([[runId, 'canceled']]);
  });
});

test('Temporal’s own cancel of a run cancels what was not begun', async () => {
  await uploaded('one', 'two');
  const runId = await runs.process(caller, 'b');
  await runs.attempt(runId);
  expect(await runs.review(runId, { cancel: true })).toEqual({ kind: 'over' });
  expect(statesOf(await runs.documents(caller, 'b'))).toEqual(['succeeded', 'canceled']);
  expect((await runs.money(runId))[0]).toMatchObject({ state: 'cancelled', held: 0n });
});

test('a batch of a customer, by a name that no path carries, calls its webhook after every run, also of later uploads', async () => {
  const tenantId = runs.tenants.get(caller) ?? '';
  await db.pool.query("INSERT INTO customers (tenant_id, customer_id, name) VALUES ($1, 'cust_1', 'One')", [tenantId]);
  const named = 'batch_name=..&customer_id=cust_1';
  const own = await runs.api.caller('customer', { tenantId, customerId: 'cust_1' });
  const hook = await own.call('PUT', '/v1/batch/webhook?batch_name=..', { json: { url: 'https://example.com/hook' } });
  expect(hook.status).toBe(201);
  for (const text of ['one', 'two']) {
    await upload(own, '..', text);
    const answer = await caller.post(`/v1/batch/process?${named}`, BODY);
    expect(answer.status).toBe(202);
    await runs.untilWaiting(answer.json.run_id);
    const { rows } = await db.pool.query('SELECT customer_id, state FROM batch_jobs WHERE tenant_id = $1', [tenantId]);
    expect(new Set(rows.map(({ customer_id }) => customer_id))).toEqual(new Set(['cust_1']));
  }
  const { rows } = await db.pool.query(
    "SELECT count(*)::int AS calls, count(DISTINCT event_id)::int AS events FROM webhook_deliveries WHERE tenant_id = $1 AND url = 'https://example.com/hook'",
    [tenantId],
  );
  expect(rows).toEqual([{ calls: 2, events: 2 }]);
});
