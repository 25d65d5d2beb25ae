import { expect, test } from 'vitest';
import { describeFailure } from '../chaos/describe-seed.ts';
import { runSeeds } from '../chaos/run-seeds.ts';

/** One that is quick; four more are played by the short acceptance, and frozen workers, which take longest, by longer runs. */
const SEEDS = [5];

test('nothing is lost and nothing is done twice, whatever is killed in between', { timeout: 600_000 }, async () => {
  const failed = await runSeeds({ seeds: SEEDS, say: () => undefined });
  expect(failed.map(describeFailure).join('\n')).toBe('');
});
