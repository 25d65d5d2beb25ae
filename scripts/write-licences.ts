/** Writes docs/licences.md, and fails where a package has a licence that is not allowed. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { installedLicence } from './installed-licence.ts';
import { isAllowed, licencePage, listLicences } from './licence-list.ts';

const root = join(import.meta.dirname, '..');
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
const licensed = listLicences(lock, (path) => installedLicence(join(root, path)));
writeFileSync(join(root, 'docs', 'licences.md'), licencePage(licensed));
const refused = licensed.filter(({ licence }) => !isAllowed(licence));
for (const { name, licence } of refused) console.error(`${name}: the licence ${licence} is not allowed`);
if (refused.length > 0) process.exitCode = 1;
else console.log(`${licensed.length} packages have licences that are allowed.`);
