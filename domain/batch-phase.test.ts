import { expect, test } from 'vitest';
import { shardStateOfPhase } from './batch-phase.ts';

test('a shard is where its batch is, and is read once the batch has ended', () => {
  const phases = ['validating', 'running', 'finalizing', 'cancelling', 'ended'] as const;
  expect(phases.map(shardStateOfPhase)).toEqual(['validating', 'running', 'finalizing', 'cancelling', 'ingesting']);
});
