import type pg from 'pg';
import type { FailureClass } from '../domain/failure.ts';
import type { RetriedClasses } from '../domain/manual-retry.ts';
import { COPIED_ITEM_COLUMNS } from './copied-items.ts';
import type { ItemRow } from './item-rows.ts';
import type { RetrySource, RetryTarget } from './retry-source.ts';

/** Which items of a job are taken; see domain/manual-retry.ts. */
export interface RetrySelection {
  readonly classes: RetriedClasses;
  readonly customIds: readonly string[] | null;
  /** Custom ids of items that are taken with another request. */
  readonly corrected: readonly string[];
}

/**
 * Of items i of a job (`$1` its bucket, `$2` its id) and outcomes o: why an item that did not complete ended. One without an
 * outcome never ran, since its job was cancelled before.
 */
export const FAILURE_CLASS = `CASE WHEN o.item_no IS NULL THEN 'cancelled' ELSE o.failure_class END`;

/** Of the same: a batch that may hold its answer is still read, or is to be read once more. */
export const IS_UNCOLLECTED = `EXISTS (
  SELECT 1 FROM batch_shards s WHERE s.job_id = $2 AND (s.state NOT IN ('settled', 'superseded') OR s.reread_requested_at IS NOT NULL)
    AND i.item_no BETWEEN s.first_item_no AND s.last_item_no AND s.requested_model = coalesce(i.requested_model, ''))`;

/** Nothing follows the item yet, in its own job or another, and the selection (`$4` to `$8`) takes it. */
const IS_TAKEN = `i.bucket = $1 AND i.job_id = $2 AND i.manifest_no = $3 AND i.retried_by_item_id IS NULL
    AND NOT ${IS_UNCOLLECTED}
    AND ($7::text[] IS NULL OR i.custom_id = ANY ($7))
    AND (${FAILURE_CLASS} = ANY ($4)
      OR (${FAILURE_CLASS} = ANY ($5) AND i.custom_id = ANY ($8))
      OR (${FAILURE_CLASS} = ANY ($6) AND i.custom_id = ANY ($7)))`;

/** Claims the chosen items for their successors, whose ids are made here: this update is the gate. */
function claimed(isCorrected: boolean): string {
  return `chosen AS MATERIALIZED (
      SELECT i.item_no FROM batch_items i
      LEFT JOIN item_outcomes o ON o.bucket = $1 AND o.job_id = $2 AND o.item_no = i.item_no
      WHERE ${IS_TAKEN} AND ${isCorrected ? '' : 'NOT'} i.custom_id = ANY ($8)
    ),
    claimed AS (
      UPDATE batch_items i SET retried_by_item_id = uuidv7() FROM chosen
      WHERE i.bucket = $1 AND i.job_id = $2 AND i.item_no = chosen.item_no AND i.retried_by_item_id IS NULL
      RETURNING i.*
    )`;
}

function selectionValues(source: RetrySource, { classes, customIds, corrected }: RetrySelection): unknown[] {
  const { plain, ifCorrected, ifNamed } = classes;
  return [source.bucket, source.uuid, source.manifestNo, plain, ifCorrected, ifNamed, customIds, corrected];
}

/**
 * Links a copy of every item that is taken as it is, numbered from 1 in the order of the originals. With `followsJob` an
 * item that asked for a model of its own is left to the job's. Answers how many.
 */
export async function claimItems(
  client: pg.PoolClient,
  source: RetrySource,
  target: RetryTarget,
  selection: RetrySelection,
  { followsJob }: { readonly followsJob: boolean },
): Promise<number> {
  const copied = COPIED_ITEM_COLUMNS.map((column) =>
    column === 'requested_model' && followsJob ? 'NULL' : `claimed.${column}`,
  );
  const { rowCount } = await client.query(
    `WITH ${claimed(false)}
     INSERT INTO batch_items (bucket, job_id, item_no, manifest_no, item_attempt, item_id, retry_of_item_id, ${COPIED_ITEM_COLUMNS.join(', ')})
     SELECT $9, $10, row_number() OVER (ORDER BY claimed.item_no), 1, claimed.item_attempt + 1, claimed.retried_by_item_id,
       claimed.item_id, ${copied.join(', ')}
     FROM claimed`,
    [...selectionValues(source, selection), target.bucket, target.uuid],
  );
  return rowCount ?? 0;
}

/**
 * Copies the requests of items that were claimed as they are. Every attempt inside a job has the request of its first. Answers
 * how many were still there.
 */
export async function copyRequests(client: pg.PoolClient, source: RetrySource, target: RetryTarget): Promise<number> {
  const { rowCount } = await client.query(
    `INSERT INTO item_requests (bucket, job_id, item_no, body)
     SELECT $4, $5, copy.item_no, r.body
     FROM batch_items copy
     JOIN batch_items first ON first.bucket = $1 AND first.job_id = $2 AND first.manifest_no = $3
       AND first.retry_of_item_no IS NULL AND first.custom_id = copy.custom_id
     JOIN item_requests r ON r.bucket = $1 AND r.job_id = $2 AND r.item_no = first.item_no
     WHERE copy.bucket = $4 AND copy.job_id = $5`,
    [source.bucket, source.uuid, source.manifestNo, target.bucket, target.uuid],
  );
  return rowCount ?? 0;
}

/** As `claimItems`, with the given requests in place of the stored ones, numbered on from `afterItemNo`. Answers their custom ids. */
export async function claimCorrected(
  client: pg.PoolClient,
  source: RetrySource,
  target: RetryTarget,
  selection: RetrySelection,
  { items, afterItemNo }: { readonly items: readonly ItemRow[]; readonly afterItemNo: number },
): Promise<ReadonlySet<string>> {
  const column = (of: (item: ItemRow) => string | number | null) => items.map(of);
  const { rows } = await client.query<{ custom_id: string }>(
    `WITH ${claimed(true)},
    given AS (
      SELECT * FROM unnest($12::text[], $13::text[], $14::text[], $15::int[], $16::text[], $17::int[], $18::int[], $19::int[], $20::int[])
        AS g (custom_id, body, request_hash, request_bytes, requested_model, features, input_tokens, output_tokens, embedding_inputs)
    ),
    inserted AS (
      INSERT INTO batch_items (bucket, job_id, item_no, manifest_no, item_attempt, item_id, retry_of_item_id, custom_id, idempotency_key,
        request_hash, request_bytes, requested_model, features, estimated_tokens, estimated_output_tokens, embedding_inputs)
      SELECT $9, $10, $11::int + row_number() OVER (ORDER BY claimed.item_no), 1, claimed.item_attempt + 1, claimed.retried_by_item_id,
        claimed.item_id, claimed.custom_id, claimed.idempotency_key, decode(given.request_hash, 'hex'), given.request_bytes, given.requested_model,
        given.features, given.input_tokens, given.output_tokens, given.embedding_inputs
      FROM claimed JOIN given ON given.custom_id = claimed.custom_id
      RETURNING item_no, custom_id
    ),
    bodies AS (
      INSERT INTO item_requests (bucket, job_id, item_no, body)
      SELECT $9, $10, inserted.item_no, given.body FROM inserted JOIN given ON given.custom_id = inserted.custom_id
    )
    SELECT custom_id FROM inserted`,
    [
      ...selectionValues(source, selection),
      target.bucket,
      target.uuid,
      afterItemNo,
      column((item) => item.customId),
      column((item) => item.body),
      column((item) => item.requestHash),
      column((item) => item.bodyBytes),
      column((item) => item.requestedModel),
      column((item) => item.features),
      column((item) => item.inputTokens),
      column((item) => item.maxOutputTokens ?? 0),
      column((item) => item.embeddingInputs),
    ],
  );
  return new Set(rows.map((row) => row.custom_id));
}

/** Custom ids of the items of a retry whose originals ended so, in order. */
export async function listRetriedOfClass(
  client: pg.PoolClient,
  source: RetrySource,
  target: RetryTarget,
  failureClass: FailureClass,
): Promise<string[]> {
  const { rows } = await client.query<{ custom_id: string }>(
    `SELECT copy.custom_id
     FROM batch_items copy
     JOIN batch_items i ON i.bucket = $1 AND i.job_id = $2 AND i.manifest_no = $3 AND i.custom_id = copy.custom_id
       AND i.item_attempt = copy.item_attempt - 1
     JOIN item_outcomes o ON o.bucket = $1 AND o.job_id = $2 AND o.item_no = i.item_no
     WHERE copy.bucket = $4 AND copy.job_id = $5 AND o.failure_class = $6
     ORDER BY copy.item_no`,
    [source.bucket, source.uuid, source.manifestNo, target.bucket, target.uuid, failureClass],
  );
  return rows.map((row) => row.custom_id);
}
