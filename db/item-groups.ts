import type pg from 'pg';
import type { ItemGroup } from '../domain/admission-facts.ts';

/** Adds groups to those of a manifest: sums add up, the largest stays. */
export async function addItemGroups(
  client: pg.PoolClient,
  job: { readonly uuid: string; readonly manifestNo: number },
  groups: readonly ItemGroup[],
): Promise<void> {
  const column = (of: (group: ItemGroup) => number | string) => groups.map(of);
  await client.query(
    `INSERT INTO job_item_groups AS g (job_id, manifest_no, requested_model, features, token_class, items, bytes,
       largest_bytes, input_tokens, output_tokens, uncapped_items)
     SELECT $1, $2, * FROM unnest($3::text[], $4::integer[], $5::integer[], $6::integer[], $7::bigint[], $8::integer[],
       $9::bigint[], $10::bigint[], $11::integer[])
     ON CONFLICT (job_id, manifest_no, requested_model, features, token_class) DO UPDATE SET
       items = g.items + excluded.items,
       bytes = g.bytes + excluded.bytes,
       largest_bytes = greatest(g.largest_bytes, excluded.largest_bytes),
       input_tokens = g.input_tokens + excluded.input_tokens,
       output_tokens = g.output_tokens + excluded.output_tokens,
       uncapped_items = g.uncapped_items + excluded.uncapped_items`,
    [
      job.uuid,
      job.manifestNo,
      column((group) => group.requestedModel),
      column((group) => group.features),
      column((group) => group.tokenClass),
      column((group) => group.items),
      column((group) => group.bytes),
      column((group) => group.largestBytes),
      column((group) => group.inputTokens),
      column((group) => group.outputTokens),
      column((group) => group.uncappedItems),
    ],
  );
}

/** How many models the items of a manifest name, the job's own not counted. */
export async function countItemModels(
  client: pg.PoolClient,
  job: { readonly uuid: string; readonly manifestNo: number },
): Promise<number> {
  const { rows } = await client.query<{ models: number }>(
    `SELECT count(DISTINCT requested_model)::integer AS models FROM job_item_groups
     WHERE job_id = $1 AND manifest_no = $2 AND requested_model <> ''`,
    [job.uuid, job.manifestNo],
  );
  return rows[0]?.models ?? 0;
}
