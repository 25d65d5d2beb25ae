import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { growthWhile } from '../../harness/held-memory.ts';
import { createIntakeFixture, item, NOTHING_LEFT } from './intake-fixture.ts';

const ITEMS = 200_000;
const MIB = 1024 * 1024;
/** The body alone is 200 MB; what is held of it does not depend on its length. */
const MAX_GROWTH_BYTES = 100 * MIB;

let intake: Awaited<ReturnType<typeof createIntakeFixture>>;
beforeAll(async () => {
  intake = await createIntakeFixture();
});
afterAll(() => intake.close());

function* lines(count: number): Generator<Buffer> {
  const text = 'The customer writes "it does not work"\nand waits. '.repeat(19);
  for (let index = 0; index < count; index += 100) {
    const part = Array.from({ length: 100 }, (_, offset) => `${JSON.stringify(item(`row_${index + offset}`, text))}\n`);
    yield Buffer.from(part.join(''));
  }
}

test('I-09: a manifest of 200,000 items is stored in memory that does not grow with it', {
  timeout: 120_000,
}, async () => {
  // The first megabytes of any run go to code and heap; they are no growth.
  await intake.replace(await intake.newJob(), Readable.from(lines(20_000)));
  const jobId = await intake.newJob();
  const growth = await growthWhile(async () => {
    const replaced = await intake.replace(jobId, Readable.from(lines(ITEMS)));
    expect(replaced).toEqual({ accepted: ITEMS, duplicates: 0, total: ITEMS });
  });
  expect(growth).toBeLessThan(MAX_GROWTH_BYTES);
  const job = await intake.job(jobId);
  expect(job).toMatchObject({ itemCount: ITEMS, groupedItems: ITEMS });
  expect(job?.itemBytes).toBeGreaterThan(ITEMS * 900);
  expect(await intake.leftovers()).toEqual(NOTHING_LEFT);
});
