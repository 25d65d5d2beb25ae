import fc from 'fast-check';
import { expect, test } from 'vitest';
import { learnOutput, OUTPUT_CLASSES, type OutputHistory } from './output-history.ts';

const MODEL = { provider: 'openai', model: 'gpt-4o-mini', reasons: false };

function history(lengths: readonly number[], of: Partial<OutputHistory> = {}): OutputHistory {
  const classes = new Array<number>(OUTPUT_CLASSES).fill(0);
  for (const length of lengths) {
    const place = Math.floor(Math.log2(length));
    classes[place] = (classes[place] ?? 0) + 1;
  }
  return { ...MODEL, classes, ...of };
}

test('fewer than 50 replies say nothing', () => {
  expect(learnOutput([history(new Array(49).fill(100))], MODEL)).toBeNull();
  expect(learnOutput([history(new Array(50).fill(100))], MODEL)).toEqual({ tokens: 121, knownReplies: 50 });
  expect(learnOutput([], MODEL)).toBeNull();
});

test('the nine of ten that are short decide, until the long ones are more than a tenth', () => {
  const short = new Array(90).fill(100);
  expect(learnOutput([history([...short, ...new Array(10).fill(5_000)])], MODEL)?.tokens).toBe(127);
  expect(learnOutput([history([...short, ...new Array(11).fill(5_000)])], MODEL)?.tokens).toBeGreaterThan(4_096);
});

test('another model, provider or kind of request is not heard', () => {
  const known = history(new Array(60).fill(100));
  for (const other of [{ model: 'gpt-4o' }, { provider: 'azure' }, { reasons: true }]) {
    expect(learnOutput([known], { ...MODEL, ...other })).toBeNull();
  }
});

test('nine of ten replies are covered, to within the class of the ninth', () => {
  const lengths = fc.array(fc.integer({ min: 1, max: 100_000 }), { minLength: 50, maxLength: 300 });
  fc.assert(
    fc.property(lengths, (replies) => {
      const tokens = learnOutput([history(replies)], MODEL)?.tokens ?? 0;
      const ninth = replies.toSorted((one, other) => one - other)[Math.ceil(replies.length * 0.9) - 1] ?? 0;
      expect(Math.floor(Math.log2(tokens))).toBe(Math.floor(Math.log2(ninth)));
    }),
  );
});
