import { createRandom } from '../../simulators/random.ts';

/** Choices that depend on the seed and on the order of asking alone. */
export interface Dice {
  /** A whole number from `min` up to and with `max`. */
  between(min: number, max: number): number;
  pick<Value>(values: readonly Value[]): Value;
  /** True in so many of a hundred cases. */
  chance(percent: number): boolean;
}

export function createDice(seed: number): Dice {
  const random = createRandom(seed);
  const between = (min: number, max: number): number => min + Math.floor(random() * (max - min + 1));
  return {
    between,
    pick: (values) => {
      const value = values[between(0, values.length - 1)];
      if (value === undefined) throw new Error('nothing to pick from');
      return value;
    },
    chance: (percent) => random() * 100 < percent,
  };
}
