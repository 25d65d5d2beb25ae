import { type IntakeDependencies, type ItemsBody, takeItems } from '../../db/intake/take-items.ts';
import type { StoredItems } from '../../db/item-intake.ts';

/**
 * Replaces all items of a draft by those of an NDJSON stream of any size, which may be a gzip file. Readers see the old
 * items or the new ones, never both; the old ones are deleted later, by `reapOldGenerations`. Same rules and errors as
 * `appendItems`; nothing is a duplicate, since nothing old is kept.
 */
export async function uploadManifest(
  dependencies: IntakeDependencies,
  body: Omit<ItemsBody, 'format'>,
): Promise<StoredItems> {
  return await takeItems(dependencies, { ...body, format: 'ndjson' }, { mode: 'replace', detectGzip: true });
}
