import type pg from 'pg';
import { spreadNumbers } from '../domain/item-sample.ts';
import { itemStateCode } from '../domain/item-state.ts';
import { OUTPUT_CLASSES, type OutputHistory } from '../domain/output-history.ts';
import { FEATURE } from '../domain/request-features.ts';
import type { JobRow } from './job-rows.ts';

/** Items of a job that are looked at when it ends, evenly spread: more would say the same and hold its locks longer. */
const MAX_ITEMS_READ = 5_000;
/** Above so many replies, those known so far count half. */
const MAX_FULL_WEIGHT = 10_000;

/** What is known of the tenant's replies without a cap at the job's endpoint, of all models. */
export async function listOutputHistory(
  db: Pick<pg.Pool, 'query'>,
  { tenantId, endpoint }: Pick<JobRow, 'tenantId' | 'endpoint'>,
): Promise<OutputHistory[]> {
  const { rows } = await db.query(
    'SELECT provider, model, reasons, classes FROM output_history WHERE tenant_id = $1 AND endpoint = $2',
    [tenantId, endpoint],
  );
  return rows.map(({ provider, model, reasons, classes }) => ({
    provider,
    model,
    reasons,
    classes: classes.map(Number),
  }));
}

/**
 * Adds the replies of a job that ends to what is known. In the transaction that ends it, so once for each job, and before
 * any budget is locked. Only completed items count whose request set no cap, asked for one choice, and whose usage the
 * provider told.
 */
export async function addOutputHistory(client: pg.PoolClient, job: JobRow): Promise<void> {
  if (!(await hasUncappedItems(client, job))) return;
  const counted = await countReplies(client, job);
  if (counted.length === 0) return;
  // In the order of the key, so that two jobs of a tenant never wait for each other.
  await client.query(
    `INSERT INTO output_history AS h (tenant_id, endpoint, provider, model, reasons, classes)
     SELECT $1, $2, n.provider, n.model, n.reasons, n.classes
     FROM jsonb_to_recordset($3) AS n (provider text, model text, reasons boolean, classes bigint[])
     ORDER BY n.provider, n.model, n.reasons
     ON CONFLICT (tenant_id, endpoint, provider, model, reasons) DO UPDATE SET updated_at = now(), classes = ARRAY(
       SELECT CASE WHEN (SELECT sum(known) FROM unnest(h.classes) AS known) > ${MAX_FULL_WEIGHT} THEN both_classes.old / 2
         ELSE both_classes.old END + both_classes.added
       FROM unnest(h.classes, excluded.classes) WITH ORDINALITY AS both_classes (old, added, place)
       ORDER BY both_classes.place)`,
    [job.tenantId, job.endpoint, JSON.stringify(counted)],
  );
}

async function hasUncappedItems(client: pg.PoolClient, { key, manifestNo }: JobRow): Promise<boolean> {
  const { rowCount } = await client.query(
    'SELECT 1 FROM job_item_groups WHERE job_id = $1 AND manifest_no = $2 AND uncapped_items > 0 LIMIT 1',
    [key.uuid, manifestNo],
  );
  return rowCount === 1;
}

/** By a lookup for each number, whatever the planner takes the size of the job for. */
async function countReplies(client: pg.PoolClient, job: JobRow): Promise<OutputHistory[]> {
  const { rows } = await client.query<{
    provider: string;
    model: string;
    reasons: boolean;
    output_class: number;
    replies: number;
  }>(
    `SELECT s.provider, s.provider_model AS model, (i.features & $4) <> 0 AS reasons,
       length(ltrim(o.output_tokens::bit(64)::text, '0')) - 1 AS output_class, count(*)::integer AS replies
     FROM unnest($3::int[]) AS read (item_no)
     CROSS JOIN LATERAL (
       SELECT state, shard, output_tokens, usage_estimated FROM item_outcomes
       WHERE job_id = $1 AND bucket = $2 AND item_no = read.item_no LIMIT 1
     ) o
     CROSS JOIN LATERAL (
       SELECT features, estimated_output_tokens FROM batch_items
       WHERE job_id = $1 AND bucket = $2 AND item_no = read.item_no LIMIT 1
     ) i
     JOIN batch_shards s ON s.job_id = $1 AND s.shard = o.shard
     WHERE o.state = $6 AND NOT o.usage_estimated AND o.output_tokens > 0
       AND i.estimated_output_tokens = 0 AND (i.features & $5) = 0
     GROUP BY 1, 2, 3, 4`,
    [
      job.key.uuid,
      job.key.bucket,
      spreadNumbers(job.firstItemNo, job.itemCount, MAX_ITEMS_READ, job.jobId),
      FEATURE.REASONING,
      FEATURE.MULTIPLE_CHOICES,
      itemStateCode('completed'),
    ],
  );
  const alike = Map.groupBy(rows, ({ provider, model, reasons }) => JSON.stringify([provider, model, reasons]));
  return [...alike.values()].flatMap((ofKind) => {
    const [first] = ofKind;
    if (first === undefined) return [];
    const classes = new Array<number>(OUTPUT_CLASSES).fill(0);
    for (const { output_class, replies } of ofKind) {
      const place = Math.min(output_class, OUTPUT_CLASSES - 1);
      classes[place] = (classes[place] ?? 0) + replies;
    }
    const { provider, model, reasons } = first;
    return [{ provider, model, reasons, classes }];
  });
}
