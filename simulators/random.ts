/** A 32-bit FNV-1a hash: the same text gives the same number in every run. */
export function hash32(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}

/** A reproducible sequence of numbers in [0, 1) (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * The items in an order that is never the given one when there are two or more, so that a reader who relies on input
 * order is always caught.
 */
export function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const keyed = items.map((item, index) => ({ item, index, key: random() })).sort((a, b) => a.key - b.key);
  if (keyed.every(({ index }, place) => index === place)) keyed.reverse();
  return keyed.map(({ item }) => item);
}
