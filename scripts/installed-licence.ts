import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What the package in a folder says of its licence, in the old form too; null where it says nothing or is not there. */
export function installedLicence(folder: string): string | null {
  let manifest: { license?: unknown; licenses?: unknown };
  try {
    manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  } catch {
    return null;
  }
  const { license, licenses } = manifest;
  const said = Array.isArray(licenses) ? licenses : [license];
  const types = said.map((one) => (typeof one === 'object' && one !== null ? one.type : one));
  return types.every((type) => typeof type === 'string') ? types.join(' OR ') : null;
}
