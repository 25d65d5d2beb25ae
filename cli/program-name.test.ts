import { expect, test } from 'vitest';
import { programName } from './program-name.ts';

test.each([
  [undefined, 'batchgate'],
  ['up', 'npm run batchgate --'],
  ['npx', 'npx batchgate'],
])('started by npm as %s, further commands are typed as %s', (script, name) => {
  expect(programName({ npm_lifecycle_event: script })).toBe(name);
});
