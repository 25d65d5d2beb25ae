import { expect, test } from 'vitest';
import { describeFailure } from '../chaos/describe-seed.ts';
import { runSeeds } from '../chaos/run-seeds.ts';

/** Its acts are in tests/chaos/plan.test.ts; four more seeds are played by the short acceptance, and frozen workers by longer runs. */
const SEEDS = [5];

test('nothing is lost and nothing is done twice, whatever is killed in between', { timeout: 600_000 }, async () => {
  const failed = await runSeeds({ seeds: SEEDS, say: () => undefined });
  expect(failed.map(describeFailure).join('\n')).toBe('');
});
