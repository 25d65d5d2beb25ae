import { expect, test } from 'vitest';
import { parseOptions } from './options.ts';

test.each([
  [[], { seeds: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], resume: null, keepLogs: false }],
  [['--seeds', '3', '--from', '7'], { seeds: [7, 8, 9], resume: null, keepLogs: false }],
  [['--seed', '42', '--keep-logs'], { seeds: [42], resume: null, keepLogs: true }],
  [['--seeds=2', '--resume', 'done.json'], { seeds: [1, 2], resume: 'done.json', keepLogs: false }],
])('%j is read', (args, options) => {
  expect(parseOptions(args)).toEqual(options);
});

test.each([
  [['--seed', '0'], '--seed is a whole number from 1, not "0"'],
  [['--seeds', 'many'], '--seeds is a whole number from 1, not "many"'],
  [['--from', '1.5'], '--from is a whole number from 1, not "1.5"'],
  [['--seed', '1', '--from', '2'], '--seed names one seed; --seeds and --from name many'],
  [['--sed', '1'], "Unknown option '--sed'"],
])('%j is refused', (args, message) => {
  expect(() => parseOptions(args)).toThrow(message);
});
