import { join } from 'node:path';
import { expect, test } from 'vitest';
import { installedLicence } from '../../scripts/installed-licence.ts';
import { isAllowed, licencePage, listLicences } from '../../scripts/licence-list.ts';
import { ROOT, readText } from './repository.ts';

const licensed = listLicences(JSON.parse(readText('package-lock.json')), (path) => installedLicence(join(ROOT, path)));

test('every package we use has a licence that is allowed', () => {
  expect(licensed.filter(({ licence }) => !isAllowed(licence))).toEqual([]);
});

test('docs/licences.md is current; `npm run licences` writes it', () => {
  expect(readText('docs/licences.md')).toBe(licencePage(licensed));
});
