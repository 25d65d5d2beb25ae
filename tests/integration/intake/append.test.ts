import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId, toUuid } from '../../../db/ids.ts';
import { createIntakeFixture, item, NOTHING_LEFT, ndjson, principalOf, refusalOf, TENANT } from './intake-fixture.ts';

let intake: Awaited<ReturnType<typeof createIntakeFixture>>;
beforeAll(async () => {
  intake = await createIntakeFixture({ maxItemsPerJob: 50_000 });
});
afterAll(() => intake.close());

const idsOf = (rows: readonly { custom_id: string }[]) => rows.map((row) => row.custom_id);

test('appended items are rows with numbers that go on from call to call, and the job counts them', async () => {
  const jobId = await intake.newJob();
  expect(await intake.append(jobId, ndjson([item('a'), item('b')]))).toEqual({ accepted: 2, duplicates: 0, total: 2 });
  expect(
    await intake.append(jobId, JSON.stringify({ items: [item('c', 'long '.repeat(99))] }), { format: 'json' }),
  ).toEqual({
    accepted: 1,
    duplicates: 0,
    total: 3,
  });
  const rows = await intake.rows(jobId);
  expect(rows.map((row) => [row.item_no, row.manifest_no, row.custom_id])).toEqual([
    [1, 1, 'a'],
    [2, 1, 'b'],
    [3, 1, 'c'],
  ]);
  const bytes = rows.reduce((sum, row) => sum + (row.body?.length ?? 0), 0);
  const counted = { itemCount: 3, itemBytes: bytes, groupedItems: 3, groupedBytes: bytes };
  expect(await intake.job(jobId)).toEqual({ manifestNo: 1, firstItemNo: 1, ...counted });
  const stored = await intake.db.pool.query(
    `SELECT item_attempt, state, request_hash = sha256(convert_to(body, 'UTF8')) AS hashed, request_bytes = octet_length(body) AS sized,
       uuid_extract_version(item_id) AS version, estimated_tokens > 0 AS estimated, estimated_output_tokens, features
     FROM batch_items JOIN item_requests USING (bucket, job_id, item_no) WHERE job_id = $1`,
    [toUuid('job', jobId)],
  );
  const facts = { item_attempt: 1, state: 0, hashed: true, sized: true, version: 7, estimated: true };
  expect(stored.rows).toEqual(Array(3).fill({ ...facts, estimated_output_tokens: 5, features: 0 }));
});

test.each(['', '\n', '\n\n', '\n \n', '\r\n', '\r\n\r\n'])(
  'I-04: three items that end in %j are three rows',
  async (ending) => {
    const jobId = await intake.newJob();
    const text = ndjson([item('a'), item('b'), item('c')]).trimEnd();
    expect(await intake.append(jobId, `${text}${ending}`)).toMatchObject({ accepted: 3, total: 3 });
    expect(idsOf(await intake.rows(jobId))).toEqual(['a', 'b', 'c']);
  },
);

test('I-04: a blank line in the middle is ignored, and counted in the lines of a refusal', async () => {
  const jobId = await intake.newJob();
  const [first, second] = [item('a'), item('b')].map((entry) => JSON.stringify(entry));
  expect(await intake.append(jobId, `${first}\n\n${second}\n`)).toMatchObject({ accepted: 2 });
  const error = await refusalOf(intake.append(jobId, `\n${JSON.stringify(item('c'))}\n\n{}\n`));
  expect(error.details).toMatchObject([
    { line: 4, index: 1 },
    { line: 4, index: 1 },
  ]);
});

test('I-06: text comes back byte-identical, separators, backslashes, NUL escapes and emoji included', async () => {
  const jobId = await intake.newJob();
  const text = 'a\u2028b\u2029c\u0085d\v\f\0\t\n\\N \\. "😀" é \u{10FFFF} \x7f';
  const ids = ['\\N', '\\.', ' id\u2028\u00a0', 'é😀', 'a\\b'];
  expect(await intake.append(jobId, ndjson(ids.map((id) => item(id, text))))).toMatchObject({ accepted: ids.length });
  const rows = await intake.rows(jobId);
  expect(idsOf(rows)).toEqual(ids);
  for (const row of rows) expect(JSON.parse(row.body ?? '').messages[0].content).toBe(text);
});

test('I-03: a call with a bad line stores nothing and leaves nothing', async () => {
  const jobId = await intake.newJob();
  const lines = [
    ...Array.from({ length: 200 }, (_, index) => JSON.stringify(item(`i${index}`))),
    'null',
    '{"custom_id":"k","body":"text"}',
  ];
  const error = await refusalOf(intake.append(jobId, lines.join('\n')));
  expect(error).toMatchObject({
    code: 'invalid_item',
    detailsCount: 3,
    details: [{ line: 201, index: 200 }, { line: 202, customId: 'k' }, {}],
  });
  expect(await intake.rows(jobId)).toEqual([]);
  expect(await intake.leftovers()).toEqual(NOTHING_LEFT);
});

test('I-07: a lone surrogate is refused with its id, its neighbour with a full emoji is accepted without it', async () => {
  const jobId = await intake.newJob();
  const good = JSON.stringify(item('good', '😀'));
  const error = await refusalOf(
    intake.append(jobId, `${good}\n{"custom_id":"bad","request":{"messages":[{"role":"user","content":"\\ud83d"}]}}`),
  );
  expect(error.details).toMatchObject([{ line: 2, customId: 'bad', message: expect.stringContaining('surrogate') }]);
  expect(await intake.append(jobId, good)).toMatchObject({ total: 1 });
  expect((await intake.rows(jobId))[0]?.body).toContain('😀');
});

test('gzip is read by its header', async () => {
  const jobId = await intake.newJob();
  const stored = await intake.append(jobId, gzipSync(ndjson([item('a')])), { contentEncoding: 'gzip' });
  expect(stored.accepted).toBe(1);
});

test('an empty call changes nothing', async () => {
  const jobId = await intake.newJob();
  await intake.append(jobId, ndjson([item('a')]));
  expect(await intake.append(jobId, '\n\n')).toEqual({ accepted: 0, duplicates: 0, total: 1 });
  expect(await intake.append(jobId, '{"items":[]}', { format: 'json' })).toEqual({
    accepted: 0,
    duplicates: 0,
    total: 1,
  });
});

test('the defaults of the job are measured with each item, and e-mail-like ids follow the policy of the tenant', async () => {
  const jobId = await intake.newJob({ requestDefaults: JSON.stringify({ stream: true }) });
  expect(await refusalOf(intake.append(jobId, ndjson([item('ann@example.org')])))).toMatchObject({
    code: 'custom_id_may_be_personal',
  });
  await intake.db.pool.query(
    `UPDATE tenants SET policy = '{"allow_email_like_custom_ids": true}' WHERE tenant_id = $1`,
    [TENANT],
  );
  await intake.append(jobId, ndjson([item('ann@example.org')]));
  await intake.db.pool.query(`UPDATE tenants SET policy = '{}' WHERE tenant_id = $1`, [TENANT]);
  const { rows } = await intake.db.pool.query('SELECT features FROM job_item_groups WHERE job_id = $1', [
    toUuid('job', jobId),
  ]);
  expect(rows).toEqual([{ features: 4 }]);
});

test('items that name models are grouped by them', async () => {
  const jobId = await intake.newJob();
  const named = (id: string, model: string) => ({
    custom_id: id,
    request: { messages: [{ role: 'user', content: 'Hi' }], model },
  });
  await intake.append(jobId, ndjson([item('a'), named('b', 'openai/gpt-4o'), named('c', 'openai/gpt-4o')]));
  const { rows } = await intake.db.pool.query(
    'SELECT requested_model, sum(items)::int AS items, sum(uncapped_items)::int AS uncapped FROM job_item_groups WHERE job_id = $1 GROUP BY 1 ORDER BY 1',
    [toUuid('job', jobId)],
  );
  expect(rows).toEqual([
    { requested_model: '', items: 1, uncapped: 0 },
    { requested_model: 'openai/gpt-4o', items: 2, uncapped: 2 },
  ]);
});

test('models are counted over all calls of a job', async () => {
  const jobId = await intake.newJob();
  const call = (from: number) =>
    ndjson(
      Array.from({ length: 60 }, (_, index) => ({
        custom_id: `i${from + index}`,
        request: { model: `m${from + index}`, messages: [] },
      })),
    );
  await intake.append(jobId, call(0));
  const error = await refusalOf(intake.append(jobId, call(60)));
  expect(error).toMatchObject({ code: 'job_too_large', field: 'items[*].request.model' });
  expect((await intake.rows(jobId)).length).toBe(60);
});

test.each([
  ['an unknown job', principalOf(TENANT), newId('job')],
  ['a malformed id', principalOf(TENANT), 'job_1'],
  ["another tenant's job", principalOf('tenant_b'), null],
  ["another project's job", principalOf(TENANT, { role: 'project', projectId: 'p2' }), null],
  ["another customer's job", principalOf(TENANT, { role: 'customer', customerId: 'c2' }), null],
])('%s is not found, in the same words', async (_name, principal, unknownId) => {
  const jobId = unknownId ?? (await intake.newJob({ projectId: 'p1', customerId: 'c1' }));
  expect(await refusalOf(intake.append(jobId, ndjson([item('a')]), { principal }))).toMatchObject({
    code: 'not_found',
    message: 'No such job.',
  });
});

test('a key of the gateway itself appends to nobody', async () => {
  const principal = { ...principalOf(TENANT), role: 'operator' as const, tenantId: null };
  expect(await refusalOf(intake.append(await intake.newJob(), ndjson([item('a')]), { principal }))).toMatchObject({
    code: 'forbidden',
  });
});

test('the keys of a project and of a customer append to their own', async () => {
  const jobId = await intake.newJob({ projectId: 'p1', customerId: 'c1' });
  const project = principalOf(TENANT, { role: 'project', projectId: 'p1' });
  const customer = principalOf(TENANT, { role: 'customer', customerId: 'c1' });
  expect(await intake.append(jobId, ndjson([item('a')]), { principal: project })).toMatchObject({ total: 1 });
  expect(await intake.append(jobId, ndjson([item('b')]), { principal: customer })).toMatchObject({ total: 2 });
});

test('a call beyond the limit of items is refused whole, by what the job would hold', async () => {
  const jobId = await intake.newJob();
  const many = (from: number, count: number) =>
    ndjson(Array.from({ length: count }, (_, index) => item(`i${from + index}`)));
  await intake.append(jobId, many(0, 40_000));
  const error = await refusalOf(intake.append(jobId, many(40_000, 10_001)));
  expect(error).toMatchObject({ code: 'job_too_large', message: expect.stringMatching(/50000 items.*50001/) });
  expect(await refusalOf(intake.append(jobId, many(0, 50_001)))).toMatchObject({ code: 'job_too_large' });
  expect(await intake.append(jobId, many(39_000, 11_000))).toEqual({
    accepted: 10_000,
    duplicates: 1000,
    total: 50_000,
  });
  expect(await intake.leftovers()).toEqual(NOTHING_LEFT);
});

test('X-01: an item of several megabytes is one row like any other', async () => {
  const jobId = await intake.newJob();
  const text = 'word '.repeat(1_400_000);
  expect(await intake.append(jobId, ndjson([item('small'), item('huge', text), item('last')]))).toMatchObject({
    accepted: 3,
  });
  const rows = await intake.rows(jobId);
  expect(JSON.parse(rows[1]?.body ?? '').messages[0].content).toBe(text);
});

test('X-10: the largest JSON append, with the longest ids, is stored; one byte more is refused by its limit', async () => {
  const jobId = await intake.newJob();
  const limit = 32 * 1024 * 1024;
  const items = Array.from({ length: 300 }, (_, index) => item(`${index}${'😀'.repeat(500)}`, 'x'.repeat(100_000)));
  const room = limit - Buffer.byteLength(JSON.stringify({ items: [...items, item('last', '')] }));
  const bodyOf = (lastLength: number) => JSON.stringify({ items: [...items, item('last', 'x'.repeat(lastLength))] });
  expect(await refusalOf(intake.append(jobId, bodyOf(room + 1), { format: 'json' }))).toMatchObject({
    code: 'request_too_large',
    message: expect.stringContaining(String(limit)),
  });
  expect(await intake.append(jobId, bodyOf(room), { format: 'json' })).toMatchObject({ accepted: 301 });
});
