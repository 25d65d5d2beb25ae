import { type IntakeDependencies, type ItemsBody, takeItems } from '../../db/intake/take-items.ts';
import type { StoredItems } from '../../db/item-intake.ts';

/**
 * Adds items to a draft: all of the call's, or none. Blank lines of an NDJSON body are no items, wherever they stand, but
 * count as lines. An item stored already with the same id, key and content is counted under `duplicates` and left alone.
 * Throws GatewayError: faults of the body, of its items (all of them, with line, index and id), or of the job.
 */
export async function appendItems(dependencies: IntakeDependencies, body: ItemsBody): Promise<StoredItems> {
  return await takeItems(dependencies, body, { mode: 'append', detectGzip: false });
}
