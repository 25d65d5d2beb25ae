import { expect, test } from 'vitest';
import { canMoveShard, isAtProvider, isShardOpen, SHARD_STATES, type ShardState } from './shard-state.ts';

const AT_PROVIDER: readonly ShardState[] = ['submitted', 'validating', 'queued', 'running', 'finalizing', 'cancelling'];
const AFTER_PROVIDER: readonly ShardState[] = ['ingesting', 'settled', 'superseded', 'indeterminate'];

test.each<[ShardState, readonly ShardState[]]>([
  ['planned', ['uploading', 'creating', 'waiting', 'settled', 'superseded']],
  ['uploading', ['planned', 'creating', 'waiting', 'settled', 'superseded']],
  ['creating', ['submitted', 'waiting', 'settled', 'superseded', 'indeterminate']],
  ['waiting', ['planned', 'uploading', 'creating', 'settled', 'superseded']],
  ...AT_PROVIDER.map((from): [ShardState, readonly ShardState[]] => [
    from,
    [...AT_PROVIDER.filter((to) => to !== from), ...AFTER_PROVIDER],
  ]),
  ['ingesting', ['planned', 'waiting', 'settled', 'superseded', 'indeterminate']],
  ['settled', ['ingesting']],
  ['superseded', []],
  ['indeterminate', [...AT_PROVIDER, 'ingesting', 'settled', 'superseded']],
])('from %s a shard moves exactly to %j', (from, allowed) => {
  expect(SHARD_STATES.filter((to) => canMoveShard(from, to)).toSorted()).toEqual(allowed.toSorted());
});

test('every shard but a settled or superseded one is open', () => {
  expect(SHARD_STATES.filter((state) => !isShardOpen(state))).toEqual(['settled', 'superseded']);
});

test('a shard is at its provider from acceptance until it is read', () => {
  expect(SHARD_STATES.filter(isAtProvider).toSorted()).toEqual(AT_PROVIDER.toSorted());
});
