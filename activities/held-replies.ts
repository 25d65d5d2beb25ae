import type { Database } from '../db/client.ts';
import { loadHeldReplies } from '../db/held-replies.ts';
import type { JobRow } from '../db/job-rows.ts';
import type { ShardRow } from '../db/shards.ts';
import type { HeldReplies } from '../db/stored-estimate.ts';
import { expectOutputTokens } from '../domain/estimate.ts';
import type { PriceRow } from '../domain/price-row.ts';

/** What was held for each choice of a reply without a cap; the defaults in submissions from before it was kept. */
export async function findHeldReplies(
  db: Database,
  { job, shard, price }: { job: JobRow; shard: ShardRow; price: PriceRow },
): Promise<HeldReplies> {
  const held = (await loadHeldReplies(db.pool, { ...job, uuid: job.key.uuid }))(shard);
  const expected = (reasons: boolean) => expectOutputTokens({ maxOutputTokens: null, choices: 1, reasons }, price);
  return held ?? { plain: expected(false), reasoning: expected(true) };
}
