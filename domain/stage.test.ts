import { expect, test } from 'vitest';
import type { ShardState } from './shard-state.ts';
import { stageOfJob, stageOfShard } from './stage.ts';

test.each<[ShardState, ReturnType<typeof stageOfShard>]>([
  ['planned', 'queued'],
  ['uploading', 'queued'],
  ['waiting', 'queued'],
  ['submitted', 'queued'],
  ['validating', 'queued'],
  ['queued', 'queued'],
  ['indeterminate', 'queued'],
  ['running', 'running'],
  ['cancelling', 'running'],
  ['finalizing', 'finalizing'],
  ['ingesting', 'finalizing'],
  ['settled', null],
  ['superseded', null],
])('a shard that is %s is in stage %s', (state, stage) => {
  expect(stageOfShard(state)).toBe(stage);
});

test.each<[string, readonly ShardState[], ReturnType<typeof stageOfJob>]>([
  ['nothing is planned', [], 'queued'],
  ['the provider checks the input', ['validating'], 'queued'],
  ['one shard runs', ['planned', 'running'], 'running'],
  ['one is done and one is not sent', ['settled', 'planned'], 'running'],
  ['all are computed', ['settled', 'ingesting'], 'finalizing'],
])('a job is in a stage by its shards: %s', (_, shards, stage) => {
  expect(stageOfJob(shards)).toBe(stage);
});
