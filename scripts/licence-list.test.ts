import { expect, test } from 'vitest';
import { isAllowed, licencePage, listLicences } from './licence-list.ts';

test.each([
  ['MIT', true],
  ['(MIT OR GPL-3.0)', true],
  ['Apache-2.0 AND MIT', true],
  ['MIT and ISC', true],
  ['MIT AND GPL-3.0', false],
  ['GPL-3.0', false],
  ['SEE LICENSE IN LICENSE.txt', false],
  ['unknown', false],
])('%s is allowed: %s', (expression, allowed) => {
  expect(isAllowed(expression)).toBe(allowed);
});

test('a package is told of once, as shipped where it is shipped anywhere, with the licence it says itself if need be', () => {
  const licensed = listLicences(
    {
      packages: {
        '': { license: 'UNLICENSED' },
        'node_modules/a': { license: 'MIT', dev: true },
        'node_modules/b/node_modules/a': { license: 'MIT' },
        'node_modules/@x/old': { dev: true },
        'node_modules/silent': {},
      },
    },
    (path) => (path === 'node_modules/@x/old' ? 'ISC' : null),
  );
  expect(licensed).toEqual([
    { name: '@x/old', licence: 'ISC', isShipped: false },
    { name: 'a', licence: 'MIT', isShipped: true },
    { name: 'silent', licence: 'unknown', isShipped: true },
  ]);
  expect(licencePage(licensed)).toContain('| ISC |  | @x/old |\n| MIT | a |  |\n');
});
