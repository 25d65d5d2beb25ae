import { afterAll, beforeAll, expect, test } from 'vitest';
import { createIntakeFixture, item, NOTHING_LEFT, ndjson, refusalOf } from './intake-fixture.ts';

let intake: Awaited<ReturnType<typeof createIntakeFixture>>;
beforeAll(async () => {
  intake = await createIntakeFixture();
});
afterAll(() => intake.close());

const key = (idempotency_key: string) => ({ idempotency_key });

test('I-01: a custom id repeated within a call is refused with both lines, and nothing is stored', async () => {
  const jobId = await intake.newJob();
  const [a, b] = [item('a'), item('b')].map((entry) => JSON.stringify(entry));
  const error = await refusalOf(intake.append(jobId, `${a}\n\n${b}\n${a}\n`));
  expect(error).toMatchObject({
    code: 'duplicate_custom_id',
    field: 'items[*].custom_id',
    detailsCount: 1,
    details: [
      {
        line: 4,
        index: 2,
        customId: 'a',
        field: 'custom_id',
        error: 'duplicate_custom_id',
        message: expect.stringContaining('line 1'),
      },
    ],
  });
  expect(await intake.rows(jobId)).toEqual([]);
  expect(await intake.job(jobId)).toMatchObject({ itemCount: 0, groupedItems: 0 });
  expect(await intake.leftovers()).toEqual(NOTHING_LEFT);
});

test('I-01: a JSON append names both by index', async () => {
  const jobId = await intake.newJob();
  const error = await refusalOf(
    intake.append(jobId, JSON.stringify({ items: [item('a'), item('b'), item('a', 'other')] }), { format: 'json' }),
  );
  expect(error.details).toEqual([
    {
      index: 2,
      customId: 'a',
      field: 'custom_id',
      error: 'duplicate_custom_id',
      message: 'custom_id is also that of item 0',
    },
  ]);
});

test('I-01: the same item appended again is accepted once, with other content refused by id', async () => {
  const jobId = await intake.newJob();
  await intake.append(jobId, ndjson([item('a'), item('b')]));
  expect(await intake.append(jobId, ndjson([item('c')]))).toEqual({ accepted: 1, duplicates: 0, total: 3 });
  expect(await intake.append(jobId, ndjson([item('c')]))).toEqual({ accepted: 0, duplicates: 1, total: 3 });
  const error = await refusalOf(intake.append(jobId, ndjson([item('d'), item('c', 'other')])));
  expect(error).toMatchObject({
    code: 'item_conflict',
    detailsCount: 1,
    details: [{ line: 2, index: 1, customId: 'c' }],
  });
  expect((await intake.rows(jobId)).length).toBe(3);
});

test('I-01: repeats and new items in one call: the new ones are numbered without a gap and counted in groups', async () => {
  const jobId = await intake.newJob();
  const old = Array.from({ length: 5000 }, (_, index) => item(`old${index}`));
  await intake.append(jobId, ndjson(old));
  const mixed = Array.from({ length: 9000 }, (_, index) =>
    index % 3 === 0
      ? (old[index / 3] ?? {})
      : { custom_id: `new${index}`, request: { messages: [{ role: 'user', content: 'x'.repeat(index % 500) }] } },
  );
  expect(await intake.append(jobId, ndjson(mixed))).toEqual({ accepted: 6000, duplicates: 3000, total: 11_000 });
  const rows = await intake.rows(jobId);
  expect(rows.map((row) => row.item_no)).toEqual(Array.from({ length: 11_000 }, (_, index) => index + 1));
  expect(rows.slice(5000).map((row) => row.custom_id)).toEqual(
    mixed.flatMap((_, index) => (index % 3 === 0 ? [] : [`new${index}`])),
  );
  for (const [offset, row] of rows.slice(5000).entries()) {
    const index = Number(row.custom_id.slice(3));
    expect([offset, JSON.parse(row.body ?? '').messages[0].content.length]).toEqual([offset, index % 500]);
  }
  const bytes = rows.reduce((sum, row) => sum + (row.body?.length ?? 0), 0);
  expect(await intake.job(jobId)).toMatchObject({
    itemCount: 11_000,
    groupedItems: 11_000,
    itemBytes: bytes,
    groupedBytes: bytes,
  });
});

test('groups are the same whether counted on the way or after leaving repeats out', async () => {
  const groupsOf = async (jobId: string) => {
    const { rows } = await intake.db.pool.query(
      `SELECT requested_model, features, token_class, items, bytes, largest_bytes, input_tokens, output_tokens, uncapped_items
       FROM job_item_groups WHERE job_id = (SELECT job_id FROM batch_jobs WHERE name = $1) ORDER BY 1, 2, 3`,
      [jobId],
    );
    return rows;
  };
  const items = Array.from({ length: 300 }, (_, index) => ({
    custom_id: `i${index}`,
    request: {
      messages: [{ role: 'user', content: 'word '.repeat(2 ** (index % 12)) }],
      ...(index % 2 === 0 ? { max_tokens: index + 1 } : {}),
      ...(index % 5 === 0 ? { model: 'openai/gpt-4o' } : {}),
    },
  }));
  await intake.append(await intake.newJob({ name: 'at once' }), ndjson(items));
  const jobId = await intake.newJob({ name: 'with repeats' });
  await intake.append(jobId, ndjson(items.slice(0, 100)));
  expect(await intake.append(jobId, ndjson(items))).toMatchObject({ accepted: 200, duplicates: 100 });
  const groups = await groupsOf('with repeats');
  expect(groups).toEqual(await groupsOf('at once'));
  expect(groups.length).toBeGreaterThan(12);
});

test('an explicit key identifies an item: same content is accepted once, anything else is a conflict', async () => {
  const jobId = await intake.newJob();
  await intake.append(jobId, ndjson([item('a', 'Hi', key('k1')), item('plain')]));
  expect(await intake.append(jobId, ndjson([item('a', 'Hi', key('k1')), item('b', 'Hi', key('k2'))]))).toEqual({
    accepted: 1,
    duplicates: 1,
    total: 3,
  });
  const conflicts: [object, string][] = [
    [item('a', 'other', key('k1')), 'custom_id'],
    [item('c', 'Hi', key('k1')), 'idempotency_key'],
    [item('a', 'Hi', key('k3')), 'custom_id'],
    [item('a'), 'custom_id'],
    [item('k1'), 'idempotency_key'],
    [item('d', 'Hi', key('plain')), 'idempotency_key'],
    [item('plain', 'Hi', key('k4')), 'custom_id'],
  ];
  for (const [conflict, field] of conflicts) {
    const error = await refusalOf(intake.append(jobId, ndjson([item('new'), conflict])));
    expect([error.code, error.details?.length, error.details?.[0]?.line, error.details?.[0]?.field]).toEqual([
      'item_conflict',
      1,
      2,
      field,
    ]);
  }
  expect((await intake.rows(jobId)).length).toBe(3);
});

test('a key that is the custom id is the default key', async () => {
  const jobId = await intake.newJob();
  await intake.append(jobId, ndjson([item('a')]));
  expect(await intake.append(jobId, ndjson([item('a', 'Hi', key('a'))]))).toMatchObject({ accepted: 0, duplicates: 1 });
});

test('a key repeated within a call is refused, also where it is the custom id of another item', async () => {
  for (const items of [
    [item('a', 'Hi', key('k')), item('b', 'Hi', key('k'))],
    [item('a'), item('b', 'Hi', key('a'))],
    [item('b', 'Hi', key('a')), item('a')],
  ]) {
    const jobId = await intake.newJob();
    const error = await refusalOf(intake.append(jobId, ndjson(items)));
    expect(error).toMatchObject({
      code: 'duplicate_custom_id',
      detailsCount: 1,
      details: [{ line: 2, field: 'idempotency_key', message: 'idempotency_key is also that of line 1' }],
    });
  }
});

test('a hundred repeats are told in full, and all are counted', async () => {
  const jobId = await intake.newJob();
  const items = Array.from({ length: 3000 }, (_, index) => item(`i${index % 1000}`));
  const within = await refusalOf(intake.append(jobId, ndjson(items)));
  expect([within.details?.length, within.detailsCount, within.details?.[0]?.line]).toEqual([100, 2000, 1001]);
  await intake.append(jobId, ndjson(items.slice(0, 1000)));
  const others = Array.from({ length: 1000 }, (_, index) => item(`i${index}`, index < 500 ? 'Hi' : 'other'));
  const across = await refusalOf(intake.append(jobId, ndjson(others)));
  expect([across.code, across.details?.length, across.detailsCount, across.details?.[0]?.line]).toEqual([
    'item_conflict',
    100,
    500,
    501,
  ]);
});

test('a call repeated whole is answered without storing anything', async () => {
  const jobId = await intake.newJob();
  const body = ndjson(Array.from({ length: 20_000 }, (_, index) => item(`i${index}`)));
  await intake.append(jobId, body);
  const before = await intake.job(jobId);
  expect(await intake.append(jobId, body)).toEqual({ accepted: 0, duplicates: 20_000, total: 20_000 });
  expect(await intake.job(jobId)).toEqual(before);
  expect((await intake.rows(jobId)).length).toBe(20_000);
});

test('an Idempotency-Key replays the answer, also after the job has moved on, and refuses another body', async () => {
  const jobId = await intake.newJob();
  const idempotency = { owner: 'tenant_a', route: `POST /v1/batch-jobs/${jobId}/items`, key: 'once' };
  const first = await intake.append(jobId, ndjson([item('a')]), { idempotency });
  await intake.append(jobId, ndjson([item('b')]));
  await intake.db.pool.query("UPDATE batch_jobs SET state = 'validating' WHERE item_count = 2");
  expect(await intake.append(jobId, ndjson([item('a')]), { idempotency })).toEqual(first);
  const error = await refusalOf(intake.append(jobId, ndjson([item('c')]), { idempotency }));
  expect(error.code).toBe('idempotency_conflict');
});

test('a job that the statistics of its partition do not know is compared by index, not read once for each item', async () => {
  const known = ndjson(Array.from({ length: 20_000 }, (_, index) => item(`i${index}`)));
  await intake.append(await intake.newJob(), known);
  await intake.db.pool.query('ANALYZE batch_items');
  const jobId = await intake.newJob();
  const body = ndjson(Array.from({ length: 40_000 }, (_, index) => item(`i${index}`)));
  await intake.append(jobId, body);
  expect(await intake.append(jobId, body)).toMatchObject({ duplicates: 40_000 });
});
