import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toUuid } from '../../../db/ids.ts';
import { reapOldGenerations } from '../../../db/old-manifests.ts';
import { createIntakeFixture, item, NOTHING_LEFT, ndjson, refusalOf } from './intake-fixture.ts';

let intake: Awaited<ReturnType<typeof createIntakeFixture>>;
beforeAll(async () => {
  intake = await createIntakeFixture({ maxItemsPerJob: 60_000 });
});
afterAll(() => intake.close());

const many = (count: number, prefix: string) => Array.from({ length: count }, (_, index) => item(`${prefix}${index}`));
const later = () => new Date(Date.now() + 120_000);

test('a manifest replaces all items under new numbers, and the ids of the old ones are free again', async () => {
  const jobId = await intake.newJob();
  await intake.append(jobId, ndjson(many(3, 'a')));
  expect(await intake.replace(jobId, ndjson([item('a0', 'other'), item('b')]))).toEqual({
    accepted: 2,
    duplicates: 0,
    total: 2,
  });
  expect(await intake.job(jobId)).toMatchObject({ manifestNo: 2, firstItemNo: 4, itemCount: 2, groupedItems: 2 });
  expect(await intake.append(jobId, ndjson([item('c')]))).toEqual({ accepted: 1, duplicates: 0, total: 3 });
  expect((await intake.rows(jobId)).map((row) => [row.item_no, row.manifest_no, row.custom_id])).toEqual([
    [1, 1, 'a0'],
    [2, 1, 'a1'],
    [3, 1, 'a2'],
    [4, 2, 'a0'],
    [5, 2, 'b'],
    [6, 2, 'c'],
  ]);
  const job = await intake.job(jobId);
  expect(job?.itemBytes).toBe(job?.groupedBytes);
});

test('a manifest may be a gzip file, with and without its header, and any ending', async () => {
  const jobId = await intake.newJob();
  const file = gzipSync(`${ndjson(many(3, 'z'))}\n`);
  expect(await intake.replace(jobId, file)).toMatchObject({ total: 3 });
  expect(await intake.replace(jobId, file, { contentEncoding: 'gzip' })).toMatchObject({ total: 3 });
});

test('a manifest of nothing leaves an empty job', async () => {
  const jobId = await intake.newJob();
  await intake.append(jobId, ndjson(many(3, 'a')));
  expect(await intake.replace(jobId, '\n')).toEqual({ accepted: 0, duplicates: 0, total: 0 });
  expect(await intake.job(jobId)).toMatchObject({ manifestNo: 2, firstItemNo: 4, itemCount: 0, itemBytes: 0 });
  expect(await intake.append(jobId, ndjson([item('a0')]))).toMatchObject({ total: 1 });
  expect((await intake.rows(jobId)).at(-1)).toMatchObject({ item_no: 4, manifest_no: 2 });
});

test.each([
  ['I-01: a repeated id', `${ndjson(many(50, 'n'))}${ndjson([item('n7')])}`, 'duplicate_custom_id', 51],
  ['I-03: a bad line', `${ndjson(many(50, 'n'))}[]\n`, 'invalid_item', 51],
  ['I-04: a line cut off at the end', `${ndjson(many(50, 'n'))}{"custom_id":"x","req`, 'invalid_json', 51],
])('%s refuses the whole manifest and leaves the one before in force', async (_name, text, code, line) => {
  const jobId = await intake.newJob();
  await intake.replace(jobId, ndjson(many(3, 'a')));
  const before = await intake.job(jobId);
  const error = await refusalOf(intake.replace(jobId, text));
  expect([error.code, error.details?.[0]?.line]).toEqual([code, line]);
  expect(await intake.job(jobId)).toEqual(before);
  expect((await intake.rows(jobId)).length).toBe(3);
  expect(await intake.leftovers()).toEqual(NOTHING_LEFT);
});

test('a truncated gzip file refuses the whole manifest', async () => {
  const jobId = await intake.newJob();
  const file = gzipSync(ndjson(many(5000, 'g')));
  const error = await refusalOf(intake.replace(jobId, file.subarray(0, file.length - 100)));
  expect(error).toMatchObject({ code: 'body_encoding', message: expect.stringContaining('truncated') });
  expect(await intake.rows(jobId)).toEqual([]);
  expect(await intake.leftovers()).toEqual(NOTHING_LEFT);
});

test('too many lines are refused before they are all read', async () => {
  const jobId = await intake.newJob();
  let read = 0;
  const lines = Readable.from(
    (function* () {
      for (; read < 1_000_000; read += 1000) yield ndjson(many(1000, `i${read}_`));
    })(),
  );
  expect(await refusalOf(intake.replace(jobId, lines))).toMatchObject({
    code: 'job_too_large',
    message: expect.stringContaining('60000'),
  });
  expect(read).toBeLessThan(100_000);
  expect(await intake.leftovers()).toEqual(NOTHING_LEFT);
});

test('whoever reads while the manifest is replaced sees the old items or the new ones, never both', async () => {
  const jobId = await intake.newJob();
  const uuid = toUuid('job', jobId);
  const counts = [4000, 7000, 2000, 6000];
  await intake.replace(jobId, ndjson(many(counts[0] ?? 0, 'm')));
  let isReplacing = true;
  const replacing = (async () => {
    for (const count of counts.slice(1)) await intake.replace(jobId, ndjson(many(count, 'm')));
    isReplacing = false;
  })();
  const seen = new Set<string>();
  while (isReplacing) {
    const { rows } = await intake.db.pool.query(
      `SELECT j.item_count, count(i.item_no)::int AS stored, min(i.item_no) = j.first_item_no AS starts,
         (SELECT sum(items)::int FROM job_item_groups g WHERE g.job_id = j.job_id AND g.manifest_no = j.manifest_no) AS grouped
       FROM batch_jobs j JOIN batch_items i ON i.bucket = j.bucket AND i.job_id = j.job_id
         AND i.item_no >= j.first_item_no AND i.item_no < j.first_item_no + j.item_count
       WHERE j.job_id = $1 GROUP BY j.job_id`,
      [uuid],
    );
    const { item_count: count } = rows[0];
    expect(rows[0]).toEqual({ item_count: count, stored: count, starts: true, grouped: count });
    seen.add(count);
  }
  await replacing;
  for (const count of seen) expect(counts).toContain(count);
  expect(await intake.job(jobId)).toMatchObject({ manifestNo: 5, itemCount: 6000 });
});

test('replaced items are deleted after a while, those in force and those of other jobs are not', async () => {
  const [jobId, otherId] = [await intake.newJob(), await intake.newJob()];
  await intake.append(otherId, ndjson(many(10, 'o')));
  for (const count of [25_000, 11, 7]) await intake.replace(jobId, ndjson(many(count, 'r')));
  await reapOldGenerations(intake.db, new Date());
  expect((await intake.rows(jobId)).length).toBe(25_018);
  expect(await reapOldGenerations(intake.db, later())).toBeGreaterThanOrEqual(25_011);
  const rows = await intake.rows(jobId);
  expect(rows.map((row) => [row.manifest_no, row.custom_id])).toEqual(many(7, 'r').map((_, index) => [4, `r${index}`]));
  expect(rows.every((row) => row.body !== null)).toBe(true);
  expect((await intake.rows(otherId)).length).toBe(10);
  const groups = await intake.db.pool.query('SELECT DISTINCT manifest_no FROM job_item_groups WHERE job_id = $1', [
    toUuid('job', jobId),
  ]);
  expect(groups.rows).toEqual([{ manifest_no: 4 }]);
  expect(await reapOldGenerations(intake.db, later())).toBe(0);
});

test('a deletion that was broken off between its two tables goes on where it was', async () => {
  const jobId = await intake.newJob();
  await intake.replace(jobId, ndjson(many(20, 'x')));
  await intake.replace(jobId, ndjson(many(1, 'y')));
  await intake.db.pool.query('DELETE FROM item_requests WHERE job_id = $1 AND item_no < 15', [toUuid('job', jobId)]);
  await reapOldGenerations(intake.db, later());
  expect((await intake.rows(jobId)).map((row) => row.custom_id)).toEqual(['y0']);
});
