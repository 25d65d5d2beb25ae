import { isShardOpen, type ShardState } from './shard-state.ts';

export const ITEM_STATES = ['pending', 'submitted', 'completed', 'failed', 'expired', 'cancelled'] as const;
export type ItemState = (typeof ITEM_STATES)[number];

const ITEM_END_STATES = ['completed', 'failed', 'expired', 'cancelled'] as const;
export type ItemEndState = (typeof ITEM_END_STATES)[number];

/** A submitted item is pending again when its batch is lost or split before it ran. */
const MOVES: { readonly [from in ItemState]: readonly ItemState[] } = {
  pending: ['submitted', ...ITEM_END_STATES],
  submitted: ['pending', ...ITEM_END_STATES],
  completed: [],
  failed: [],
  expired: [],
  cancelled: [],
};

/** What a SMALLINT column holds. Stored, so a code never changes its meaning. */
const CODES: { readonly [state in ItemState]: number } = {
  pending: 0,
  submitted: 1,
  completed: 2,
  failed: 3,
  expired: 4,
  cancelled: 5,
};

export function canMoveItem(from: ItemState, to: ItemState): boolean {
  return MOVES[from].includes(to);
}

export function isItemTerminal(state: ItemState): state is ItemEndState {
  return (ITEM_END_STATES as readonly ItemState[]).includes(state);
}

export function itemStateCode(state: ItemState): number {
  return CODES[state];
}

/** Throws RangeError for a code no state has. */
export function itemStateFromCode(code: number): ItemState {
  const state = ITEM_STATES.find((candidate) => CODES[candidate] === code);
  if (state === undefined) throw new RangeError(`no item state has code ${code}`);
  return state;
}

/** An item whose row says `pending` is where its shard is: no row is touched when a batch is submitted. */
export function itemStateInShard(stored: ItemState, shard: ShardState | null): ItemState {
  if (stored !== 'pending' || shard === null) return stored;
  const beforeProvider = shard === 'planned' || shard === 'uploading' || shard === 'creating' || shard === 'waiting';
  return beforeProvider || !isShardOpen(shard) ? 'pending' : 'submitted';
}
