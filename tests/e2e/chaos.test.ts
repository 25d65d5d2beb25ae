import { expect, test } from 'vitest';
import { describeFailure } from '../chaos/describe-seed.ts';
import { runSeeds } from '../chaos/run-seeds.ts';

/**
 * Between them: both processes killed, Postgres crashed, Temporal restarted, connections cut, cancels on two roads and a
 * terminate. Frozen workers, which take longest, are for longer runs.
 */
const SEEDS = [5, 11];

test('nothing is lost and nothing is done twice, whatever is killed in between', { timeout: 600_000 }, async () => {
  const failed = await runSeeds({ seeds: SEEDS, say: () => undefined });
  expect(failed.map(describeFailure).join('\n')).toBe('');
});
