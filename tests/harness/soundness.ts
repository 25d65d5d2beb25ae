import { z } from 'zod';
import type { Database } from '../../db/client.ts';
import { getJobRow } from '../../db/job-rows.ts';
import { verifyLedger } from '../../ledger/verify.ts';
import type { Control } from '../../simulators/control-client.ts';

/** A batch as a provider knows it, whichever provider it is. */
interface ProviderSideBatch {
  readonly id: string;
  /** The attempt token it was labelled with; null where the provider has no label. */
  readonly token: string | null;
  readonly mayHaveRun: boolean;
}

/** Where the gateway's OpenAI adapter leaves the attempt's token, read here from the provider's side. */
const TOKEN_KEY = 'batchgate_attempt';

/** A batch that failed at validation ran nothing, and leaves no file. */
const OpenAiBatch = z
  .object({
    id: z.string(),
    status: z.string(),
    output_file_id: z.string().nullable(),
    error_file_id: z.string().nullable(),
    metadata: z.record(z.string(), z.string()).nullable(),
  })
  .transform(({ id, status, output_file_id, error_file_id, metadata }) => ({
    id,
    token: metadata?.[TOKEN_KEY] ?? null,
    mayHaveRun: status !== 'failed' || output_file_id !== null || error_file_id !== null,
  }));

const AnthropicBatch = z
  .object({
    id: z.string(),
    processing_status: z.string(),
    request_counts: z.object({ succeeded: z.number(), errored: z.number() }),
  })
  .transform(({ id, processing_status, request_counts: { succeeded, errored } }) => ({
    id,
    token: null,
    mayHaveRun: processing_status !== 'ended' || succeeded + errored > 0,
  }));

/** Only a batch that succeeded ran for us: the others leave nothing and bill nothing. */
const GeminiBatch = z
  .object({ name: z.string(), metadata: z.object({ state: z.string(), displayName: z.string().optional() }) })
  .transform(({ name, metadata: { state, displayName = null } }) => ({
    id: name,
    token: displayName,
    mayHaveRun: !['BATCH_STATE_FAILED', 'BATCH_STATE_CANCELLED', 'BATCH_STATE_EXPIRED'].includes(state),
  }));

const BATCHES = { openai: OpenAiBatch, anthropic: AnthropicBatch, gemini: GeminiBatch } as const;

interface Attempt {
  readonly shard: number;
  readonly attempt: number;
  readonly first_item_no: number;
  readonly last_item_no: number;
  readonly requested_model: string;
  readonly attempt_token: string;
  readonly provider_batch_id: string | null;
}

/**
 * Everything that has to hold of a job whatever befell it, and does not: money that does not add up, two batches made
 * under one attempt token, a batch at a provider without labels that nobody here knows, or an item that ran in two batches.
 */
export async function findFaults(db: Database, simulator: Control, jobId: string): Promise<string[]> {
  const { differences } = await verifyLedger(db, { jobId });
  const { key } = await getJobRow(db.pool, jobId);
  const { rows: attempts } = await db.pool.query<Attempt>(
    `SELECT shard, m.attempt, attempt_token, provider_batch_id, first_item_no, last_item_no, requested_model
     FROM batch_provider_metadata m JOIN batch_shards USING (job_id, shard) WHERE job_id = $1 ORDER BY shard, m.attempt`,
    [key.uuid],
  );
  const batches = await listBatches(simulator);
  const faults = differences.map((difference) => `the ledger differs: ${JSON.stringify(difference)}`);
  const ran: Attempt[] = [];
  for (const attempt of attempts) {
    const own = batches.filter((batch) => isOf(batch, attempt));
    if (own.length > 1) faults.push(`${own.length} batches were made under token ${attempt.attempt_token}`);
    for (const { mayHaveRun } of own) if (mayHaveRun) ran.push(attempt);
  }
  for (const [index, attempt] of ran.entries()) {
    const again = ran.slice(0, index).find((earlier) => overlap(earlier, attempt));
    if (again !== undefined) faults.push(`items of ${nameOf(attempt)} are in the batch of ${nameOf(again)}, too`);
  }
  for (const id of await findStrangers(db, batches)) faults.push(`nobody knows of batch ${id}`);
  return faults;
}

/** Shards that came of splitting one have parts of its range; of another model's, the items in between. */
function overlap(one: Attempt, other: Attempt): boolean {
  if (one.requested_model !== other.requested_model) return false;
  return one.first_item_no <= other.last_item_no && other.first_item_no <= one.last_item_no;
}

function nameOf({ shard, attempt }: Attempt): string {
  return `shard ${shard}, attempt ${attempt}`;
}

function isOf(batch: ProviderSideBatch, { attempt_token, provider_batch_id }: Attempt): boolean {
  return batch.token === null ? batch.id === provider_batch_id : batch.token === attempt_token;
}

async function listBatches(simulator: Control): Promise<ProviderSideBatch[]> {
  const shown = await simulator.batches();
  return Object.entries(BATCHES).flatMap(([provider, schema]) => z.array(schema).parse(shown[provider] ?? []));
}

/**
 * Batches without a label that no attempt of any job has for its own. While a create is unanswered its batch may be one
 * of them, so there are none to tell of then.
 */
async function findStrangers(db: Database, batches: readonly ProviderSideBatch[]): Promise<string[]> {
  const unlabelled = batches.filter(({ token }) => token === null).map(({ id }) => id);
  const { rows } = await db.pool.query<{ id: string }>(
    `SELECT id FROM unnest($1::text[]) AS id
     WHERE NOT EXISTS (SELECT 1 FROM batch_provider_metadata WHERE provider_batch_id = id)
       AND NOT EXISTS (SELECT 1 FROM batch_provider_metadata
         WHERE create_started_at IS NOT NULL AND create_outcome IS NULL AND closed_at IS NULL)`,
    [unlabelled],
  );
  return rows.map(({ id }) => id);
}
