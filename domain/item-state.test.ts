import { expect, test } from 'vitest';
import {
  canMoveItem,
  ITEM_STATES,
  type ItemState,
  isItemTerminal,
  itemStateCode,
  itemStateFromCode,
  itemStateInShard,
} from './item-state.ts';
import { SHARD_STATES } from './shard-state.ts';

const ENDS: readonly ItemState[] = ['completed', 'failed', 'expired', 'cancelled'];

test.each<[ItemState, readonly ItemState[]]>([
  ['pending', ['submitted', ...ENDS]],
  ['submitted', ['pending', ...ENDS]],
  ...ENDS.map((end): [ItemState, readonly ItemState[]] => [end, []]),
])('from %s an item moves exactly to %j', (from, allowed) => {
  expect(ITEM_STATES.filter((to) => canMoveItem(from, to)).toSorted()).toEqual(allowed.toSorted());
  expect(isItemTerminal(from)).toBe(allowed.length === 0);
});

test('the stored codes are these for ever', () => {
  expect(ITEM_STATES.map((state) => [state, itemStateCode(state)])).toEqual([
    ['pending', 0],
    ['submitted', 1],
    ['completed', 2],
    ['failed', 3],
    ['expired', 4],
    ['cancelled', 5],
  ]);
  for (const state of ITEM_STATES) expect(itemStateFromCode(itemStateCode(state))).toBe(state);
});

test.each([-1, 6, 1.5])('no state has the code %d', (code) => {
  expect(() => itemStateFromCode(code)).toThrow(RangeError);
});

test('an unsettled item is submitted exactly while a provider has its shard', () => {
  expect(SHARD_STATES.filter((shard) => itemStateInShard('pending', shard) === 'submitted')).toEqual([
    'submitted',
    'validating',
    'queued',
    'running',
    'finalizing',
    'cancelling',
    'ingesting',
    'indeterminate',
  ]);
  expect(itemStateInShard('pending', null)).toBe('pending');
});

test.each(ENDS)('a settled item is %s whatever its shard is', (state) => {
  for (const shard of SHARD_STATES) expect(itemStateInShard(state, shard)).toBe(state);
});
