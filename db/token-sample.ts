import type pg from 'pg';
import { chooseSample, spreadNumbers } from '../domain/item-sample.ts';
import { NOT_OF_TEXT, type TokenBand, tokenBandOf } from '../domain/token-calibration.ts';
import type { JobRow } from './job-rows.ts';

/** Items whose sizes are looked at, evenly spread over the job. */
const MAX_ITEMS_SEEN = 1_000;
/** Items and bytes of requests that are read and counted: a tenth of a second of prose, up to one of base64. */
export const TOKEN_SAMPLE_LIMITS = { maxItems: 200, maxBytes: 250_000 };
/** A longer request is passed over: its count would hold up the process. */
const MAX_REQUEST_BYTES = 125_000;

export interface SampledItem {
  /** Empty where the item follows the job's model. */
  readonly requestedModel: string;
  readonly band: TokenBand;
  /** The item's own request as JSON text, before the job's defaults. */
  readonly body: string;
}

/** Some items of each model and length, texts alone, always the same of a job. A few small reads by key, whatever the job's size. */
export async function readTokenSample(db: Pick<pg.Pool, 'query'>, job: JobRow): Promise<SampledItem[]> {
  const { rows } = await db.query<{ item_no: number; model: string; tokens: number; bytes: number }>(
    // A lookup for each number: without statistics of a job's rows, the planner would rather read all of them.
    `SELECT seen.item_no, i.model, i.tokens, i.bytes
     FROM unnest($3::int[]) AS seen (item_no) CROSS JOIN LATERAL (
       SELECT coalesce(requested_model, '') AS model, estimated_tokens AS tokens, request_bytes AS bytes, features
       FROM batch_items WHERE job_id = $1 AND bucket = $2 AND item_no = seen.item_no LIMIT 1
     ) i
     WHERE (i.features & $4) = 0 ORDER BY seen.item_no`,
    [
      job.key.uuid,
      job.key.bucket,
      spreadNumbers(job.firstItemNo, job.itemCount, MAX_ITEMS_SEEN, job.jobId),
      NOT_OF_TEXT,
    ],
  );
  const candidates = rows
    .filter(({ bytes }) => bytes <= MAX_REQUEST_BYTES)
    .map(({ item_no, model, tokens, bytes }) => {
      const band = tokenBandOf(Math.floor(Math.log2(Math.max(1, tokens))));
      return { itemNo: item_no, kind: `${band} ${model}`, bytes, requestedModel: model, band };
    });
  return readBodies(db, job, chooseSample(candidates, TOKEN_SAMPLE_LIMITS));
}

async function readBodies(
  db: Pick<pg.Pool, 'query'>,
  { key }: JobRow,
  chosen: readonly { readonly itemNo: number; readonly requestedModel: string; readonly band: TokenBand }[],
): Promise<SampledItem[]> {
  const { rows } = await db.query<{ item_no: number; body: string }>(
    `SELECT chosen.item_no, r.body
     FROM unnest($3::int[]) AS chosen (item_no) CROSS JOIN LATERAL (
       SELECT body FROM item_requests WHERE job_id = $1 AND bucket = $2 AND item_no = chosen.item_no LIMIT 1
     ) r`,
    [key.uuid, key.bucket, chosen.map(({ itemNo }) => itemNo)],
  );
  const bodies = new Map(rows.map(({ item_no, body }) => [item_no, body]));
  return chosen.flatMap(({ itemNo, requestedModel, band }) => {
    const body = bodies.get(itemNo);
    return body === undefined ? [] : [{ requestedModel, band, body }];
  });
}
