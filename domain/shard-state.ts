/** One attempt to run one shard as a batch at a provider, as the workflow sees it. */
export const SHARD_STATES = [
  'planned',
  'uploading',
  'creating',
  'waiting',
  'submitted',
  'validating',
  'queued',
  'running',
  'finalizing',
  'cancelling',
  'ingesting',
  'settled',
  'superseded',
  'indeterminate',
] as const;
export type ShardState = (typeof SHARD_STATES)[number];

/** The provider has accepted the batch. Its status words may come in any order, so these move freely. */
const AT_PROVIDER = ['submitted', 'validating', 'queued', 'running', 'finalizing', 'cancelling'] as const;

const FROM_PROVIDER: readonly ShardState[] = [...AT_PROVIDER, 'ingesting', 'settled', 'superseded', 'indeterminate'];

/**
 * `waiting` holds for capacity or a retry; `superseded` was split, or is followed by another attempt; `indeterminate`
 * may or may not exist at the provider. A settled shard opens again only to read its results once more.
 */
const MOVES: { readonly [from in ShardState]: readonly ShardState[] } = {
  planned: ['uploading', 'creating', 'waiting', 'settled', 'superseded'],
  uploading: ['planned', 'creating', 'waiting', 'settled', 'superseded'],
  creating: ['submitted', 'waiting', 'settled', 'superseded', 'indeterminate'],
  waiting: ['planned', 'uploading', 'creating', 'settled', 'superseded'],
  submitted: FROM_PROVIDER,
  validating: FROM_PROVIDER,
  queued: FROM_PROVIDER,
  running: FROM_PROVIDER,
  finalizing: FROM_PROVIDER,
  cancelling: FROM_PROVIDER,
  ingesting: ['planned', 'waiting', 'settled', 'superseded', 'indeterminate'],
  settled: ['ingesting'],
  superseded: [],
  indeterminate: [...AT_PROVIDER, 'ingesting', 'settled', 'superseded'],
};

/** To itself is no move. */
export function canMoveShard(from: ShardState, to: ShardState): boolean {
  return from !== to && MOVES[from].includes(to);
}

/** Whether the shard still holds items, money or a batch that nobody has collected. */
export function isShardOpen(state: ShardState): boolean {
  return state !== 'settled' && state !== 'superseded';
}

/** Whether the provider is known to have the batch, and it has not been collected. */
export function isAtProvider(state: ShardState): boolean {
  return (AT_PROVIDER as readonly ShardState[]).includes(state);
}
