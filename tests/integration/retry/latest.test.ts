import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { toUuid } from '../../../db/ids.ts';
import { FAILURE_CLASSES } from '../../../domain/failure.ts';
import { type ApiCaller, createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { endJob, settleItems } from '../../harness/settled-items.ts';
import { addWave, type End, endAs, endedAs, endedJob } from './failed-job.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);

interface Row {
  readonly custom_id: string;
  readonly status: string;
  readonly error: { readonly class: string } | null;
  readonly item_id: string;
}

async function retried(caller: ApiCaller, jobId: string, body: Record<string, unknown> = {}): Promise<string> {
  const answer = await caller.post(`/v1/batch-jobs/${jobId}/retry`, { submit: true, ...body });
  if (answer.status !== 201) throw new Error(`retry answered ${answer.status}: ${answer.text}`);
  return answer.json.job_id;
}

/** All rows of `view=latest`, page by page. */
async function latest(caller: ApiCaller, jobId: string, query = ''): Promise<Row[]> {
  const rows: Row[] = [];
  const path = `/v1/batch-jobs/${jobId}/results?view=latest${query}`;
  for (let cursor = ''; ; ) {
    const page = await caller.get(cursor === '' ? path : `${path}&cursor=${cursor}`);
    if (page.status !== 200) throw new Error(`results answered ${page.status}: ${page.text}`);
    rows.push(...page.json.data);
    if (page.json.next_cursor === null || page.json.data.length === 0) return rows;
    cursor = page.json.next_cursor;
  }
}

const shown = (rows: readonly Row[]) => rows.map((row) => [row.custom_id, row.error?.class ?? row.status]);

describe('view=latest', () => {
  test('follows items through jobs, where those have settled', async () => {
    const caller = await api.caller();
    const first = await endedJob(db, caller, ['expired', null, 'expired', 'validation', 'expired']);
    const second = await retried(caller, first);
    await settleItems(db, second, [endedAs(3, 'provider_error'), endedAs(1, null)]);
    const soFar = [
      ['row_1', 'completed'],
      ['row_2', 'completed'],
      ['row_3', 'expired'],
      ['row_4', 'validation'],
      ['row_5', 'provider_error'],
    ];
    expect(shown(await latest(caller, first))).toEqual(soFar);
    await settleItems(db, second, [endedAs(2, 'rate_limited')]);
    await endJob(db, second, 'completed_with_errors');
    const third = await retried(caller, second);
    await endAs(db, third, [null, null]);
    expect(shown(await latest(caller, first))).toEqual([
      ['row_1', 'completed'],
      ['row_2', 'completed'],
      ['row_3', 'completed'],
      ['row_4', 'validation'],
      ['row_5', 'completed'],
    ]);
    expect(shown(await latest(caller, second, '&limit=1'))).toEqual([
      ['row_5', 'completed'],
      ['row_1', 'completed'],
      ['row_3', 'completed'],
    ]);
    const plain = await caller.get(`/v1/batch-jobs/${first}/results`);
    expect(shown(plain.json.data)[0]).toEqual(['row_1', 'expired']);
  });

  test('follows waves inside the job, whose rows are not rows of their own', async () => {
    const caller = await api.caller();
    const jobId = await caller.submitted(2);
    await settleItems(db, jobId, [endedAs(1, 'provider_error'), endedAs(2, null)]);
    const [again = 0] = await addWave(db, jobId, [1]);
    expect(shown(await latest(caller, jobId))).toEqual([
      ['row_1', 'provider_error'],
      ['row_2', 'completed'],
    ]);
    await settleItems(db, jobId, [endedAs(again, 'rate_limited')]);
    await endJob(db, jobId, 'completed_with_errors');
    expect(shown(await latest(caller, jobId, '&limit=1'))).toEqual([
      ['row_1', 'rate_limited'],
      ['row_2', 'completed'],
    ]);
    const next = await retried(caller, jobId);
    await endAs(db, next, [null]);
    expect(shown(await latest(caller, jobId))).toEqual([
      ['row_1', 'completed'],
      ['row_2', 'completed'],
    ]);
  });

  test('is filtered by how items ended in the end, and by their id', async () => {
    const caller = await api.caller();
    const first = await endedJob(db, caller, ['expired', 'provider_error', null]);
    const second = await retried(caller, first);
    await endAs(db, second, [null, 'expired']);
    expect(shown(await latest(caller, first, '&status=completed&limit=1'))).toEqual([
      ['row_1', 'completed'],
      ['row_3', 'completed'],
    ]);
    expect(shown(await latest(caller, first, '&status=expired'))).toEqual([['row_2', 'expired']]);
    expect(await latest(caller, first, '&status=failed')).toEqual([]);
    expect(shown(await latest(caller, first, '&custom_id=row_2'))).toEqual([['row_2', 'expired']]);
  });

  test('shows items of a job that was cancelled before it ran, as those of its retry', async () => {
    const caller = await api.caller();
    const first = await caller.draft(3);
    await caller.post(`/v1/batch-jobs/${first}/cancel`);
    const second = await retried(caller, first, { custom_ids: ['row_2', 'row_3'] });
    await endAs(db, second, [null, 'expired']);
    expect(shown(await latest(caller, first, '&limit=1'))).toEqual([
      ['row_1', 'cancelled'],
      ['row_2', 'completed'],
      ['row_3', 'expired'],
    ]);
    expect(shown(await latest(caller, first, '&status=completed&limit=1'))).toEqual([['row_2', 'completed']]);
  });

  test('refuses another view, and a cursor of the other one', async () => {
    const caller = await api.caller();
    const jobId = await endedJob(db, caller, [null, null]);
    const path = `/v1/batch-jobs/${jobId}/results`;
    expect(await caller.get(`${path}?view=first`)).toMatchObject({ status: 400, json: { field: 'view' } });
    const { next_cursor: cursor } = (await caller.get(`${path}?limit=1`)).json;
    expect(await caller.get(`${path}?limit=1&cursor=${cursor}&view=latest`)).toMatchObject({
      status: 400,
      json: { error: 'invalid_cursor' },
    });
  });

  test('a cursor follows a running job and skips no original', async () => {
    const caller = await api.caller();
    const jobId = await caller.submitted(3);
    const path = `/v1/batch-jobs/${jobId}/results?view=latest`;
    await settleItems(db, jobId, [endedAs(2, null)]);
    const one = await caller.get(path);
    await settleItems(db, jobId, [endedAs(3, null), endedAs(1, null)]);
    const two = await caller.get(`${path}&cursor=${one.json.next_cursor}`);
    expect([shown(one.json.data), shown(two.json.data)]).toEqual([
      [['row_2', 'completed']],
      [
        ['row_3', 'completed'],
        ['row_1', 'completed'],
      ],
    ]);
  });

  const arbitraryEnd = fc.constantFrom<End>(null, ...FAILURE_CLASSES);
  const round = fc.record({
    ends: fc.array(arbitraryEnd, { minLength: 12, maxLength: 12 }),
    again: fc.array(arbitraryEnd, { minLength: 6, maxLength: 6 }),
    settles: fc.boolean(),
  });

  test('whatever became of the items, each original is there exactly once, with its newest outcome', async () => {
    const caller = await api.caller();
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.array(round, { minLength: 1, maxLength: 3 }),
        fc.integer({ min: 1, max: 3 }),
        async (items, rounds, limit) => {
          const first = await caller.submitted(items);
          const newest = new Map<string, End>();
          let jobId = first;
          for (const [index, { ends, again, settles }] of rounds.entries()) {
            if (index > 0) {
              const answer = await caller.post(`/v1/batch-jobs/${jobId}/retry`, { submit: true });
              if (answer.status === 409) break;
              jobId = answer.json.job_id;
              if (!settles) break;
            }
            await playRound(jobId, { ends, again }, newest);
          }
          const expected = Array.from({ length: items }, (_, index) => `row_${index + 1}`);
          const rows = await latest(caller, first, `&limit=${limit}`);
          expect(rows.map((row) => row.custom_id)).toEqual(expected);
          for (const row of rows) expect(row.error?.class ?? null).toBe(newest.get(row.custom_id));
          const stream = await caller.get(`/v1/batch-jobs/${first}/results?view=latest`, {
            accept: 'application/x-ndjson',
          });
          const lines = stream.text.trimEnd().split('\n');
          expect(lines.map((line) => JSON.parse(line))).toEqual(rows);
        },
      ),
      { numRuns: 8 },
    );
  });

  /** Ends the items of a job, and then a wave of those that failed; notes how each custom id ended last. */
  async function playRound(
    jobId: string,
    { ends, again }: { readonly ends: readonly End[]; readonly again: readonly End[] },
    newest: Map<string, End>,
  ): Promise<void> {
    const { rows } = await db.pool.query<{ item_no: number; custom_id: string }>(
      'SELECT item_no, custom_id FROM batch_items WHERE job_id = $1 ORDER BY item_no',
      [toUuid('job', jobId)],
    );
    const endOf = (list: readonly End[], index: number): End => list[index % list.length] ?? null;
    await settleItems(
      db,
      jobId,
      rows.map((row, index) => endedAs(row.item_no, endOf(ends, index))),
    );
    for (const [index, row] of rows.entries()) newest.set(row.custom_id, endOf(ends, index));
    const failed = rows.filter((row) => newest.get(row.custom_id) === 'provider_error');
    const numbers = await addWave(
      db,
      jobId,
      failed.map((row) => row.item_no),
    );
    await settleItems(
      db,
      jobId,
      numbers.map((itemNo, index) => endedAs(itemNo, endOf(again, index))),
    );
    for (const [index, row] of failed.entries()) newest.set(row.custom_id, endOf(again, index));
    await endJob(db, jobId, 'completed_with_errors');
  }
});

describe('get_item', () => {
  test('shows the whole chain from every job in it, oldest first', async () => {
    const caller = await api.caller();
    const first = await caller.submitted(2);
    await settleItems(db, first, [endedAs(1, 'provider_error'), endedAs(2, null)]);
    const [wave = 0] = await addWave(db, first, [1]);
    await settleItems(db, first, [endedAs(wave, 'provider_error')]);
    await endJob(db, first, 'completed_with_errors');
    const second = await retried(caller, first);
    const item = async (jobId: string, id = 'row_1') => (await caller.get(`/v1/batch-jobs/${jobId}/items/${id}`)).json;
    expect(await item(second)).toMatchObject({ status: 'pending', retried_by_item_id: null });
    await endAs(db, second, [null]);
    const [shownFirst, shownSecond] = [await item(first), await item(second)];
    expect(shownFirst.retry_chain).toEqual(shownSecond.retry_chain);
    expect(shownFirst.retry_chain).toEqual([
      {
        job_id: first,
        item_id: expect.any(String),
        name: 'row_1',
        attempt: 1,
        status: 'failed',
        error: expect.anything(),
        model: 'gpt-4o-mini',
        cost: '0.00',
        settled_at: expect.any(String),
      },
      {
        job_id: first,
        item_id: shownFirst.item_id,
        name: 'row_1.retry_1',
        attempt: 2,
        status: 'failed',
        error: expect.anything(),
        model: 'gpt-4o-mini',
        cost: '0.00',
        settled_at: expect.any(String),
      },
      {
        job_id: second,
        item_id: shownSecond.item_id,
        name: 'row_1.retry_2',
        attempt: 3,
        status: 'completed',
        error: null,
        model: 'gpt-4o-mini',
        cost: '0.50',
        settled_at: expect.any(String),
      },
    ]);
    expect(shownFirst.retried_by_item_id).toBe(shownSecond.item_id);
    expect(shownSecond.retry_of_item_id).toBe(shownFirst.item_id);
    expect((await item(first, 'row_2')).retry_chain).toHaveLength(1);
  });

  test('shows what was cancelled before it ran as cancelled', async () => {
    const caller = await api.caller();
    const first = await caller.draft(1);
    await caller.post(`/v1/batch-jobs/${first}/cancel`);
    const second = await retried(caller, first);
    const { retry_chain: chain } = (await caller.get(`/v1/batch-jobs/${second}/items/row_1`)).json;
    expect(chain).toMatchObject([
      { job_id: first, status: 'cancelled', error: { class: 'cancelled', code: 'job_cancelled' }, cost: '0.00' },
      { job_id: second, status: 'pending', error: null, cost: null },
    ]);
  });

  test('and view=latest show no other tenant anything', async () => {
    const caller = await api.caller();
    const first = await endedJob(db, caller, ['expired']);
    const second = await retried(caller, first);
    const stranger = await api.caller();
    for (const path of [`${first}/results?view=latest`, `${second}/items/row_1`, `${first}/items/row_1`]) {
      expect(await stranger.get(`/v1/batch-jobs/${path}`)).toMatchObject({ status: 404, json: { error: 'not_found' } });
    }
    expect(await stranger.post(`/v1/batch-jobs/${first}/retry`)).toMatchObject({ status: 404 });
    expect((await caller.get(`/v1/batch-jobs/${first}`)).json.retry_jobs).toEqual([second]);
  });
});
