import { expect, test } from 'vitest';
import { describeFailure } from '../chaos/describe-seed.ts';
import { runSeeds } from '../chaos/run-seeds.ts';

const isShort = process.env['BATCHGATE_ACCEPTANCE'] === 'short';
/** The short ones are others than those of tests/e2e/chaos.test.ts. */
const SEEDS = isShort ? [3, 11, 29, 33] : Array.from({ length: 25 }, (_, index) => index + 1);

test('nothing is lost and nothing is done twice, whatever is killed, frozen or cut in between', async () => {
  const failed = await runSeeds({ seeds: SEEDS, say: () => undefined });
  expect(failed.map(describeFailure).join('\n')).toBe('');
});
