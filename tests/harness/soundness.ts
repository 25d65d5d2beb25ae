import { z } from 'zod';
import type { Database } from '../../db/client.ts';
import { getJobRow } from '../../db/job-rows.ts';
import { verifyLedger } from '../../ledger/verify.ts';
import type { Control } from '../../simulators/control-client.ts';

/** Of a simulated batch, what tells whose it is and whether anything ran in it. */
const SimulatedBatch = z.object({
  id: z.string(),
  status: z.string(),
  output_file_id: z.string().nullable(),
  error_file_id: z.string().nullable(),
  metadata: z.record(z.string(), z.string()).nullable(),
});
type SimulatedBatch = z.infer<typeof SimulatedBatch>;

/** Where the gateway's OpenAI adapter leaves the attempt's token, read here from the provider's side. */
const TOKEN_KEY = 'batchgate_attempt';

/**
 * Everything that has to hold of a job whatever befell it, and does not: money that does not add up, two batches made
 * under one attempt token, or an item that ran in two batches.
 */
export async function findFaults(db: Database, simulator: Control, jobId: string): Promise<string[]> {
  const { differences } = await verifyLedger(db, { jobId });
  const { key } = await getJobRow(db.pool, jobId);
  const { rows: attempts } = await db.pool.query<{ shard: number; attempt_token: string }>(
    'SELECT shard, attempt_token FROM batch_provider_metadata WHERE job_id = $1',
    [key.uuid],
  );
  const batches = z.array(SimulatedBatch).parse((await simulator.batches())['openai'] ?? []);
  const byToken = Map.groupBy(batches, ({ metadata }) => metadata?.[TOKEN_KEY] ?? '');
  const ranByShard = new Map<number, number>();
  const faults = differences.map((difference) => `the ledger differs: ${JSON.stringify(difference)}`);
  for (const { shard, attempt_token: token } of attempts) {
    const own = byToken.get(token) ?? [];
    if (own.length > 1) faults.push(`${own.length} batches were made under token ${token}`);
    ranByShard.set(shard, (ranByShard.get(shard) ?? 0) + own.filter(mayHaveRun).length);
  }
  for (const [shard, ran] of ranByShard) if (ran > 1) faults.push(`the items of shard ${shard} are in ${ran} batches`);
  return faults;
}

/** A batch that failed at validation ran nothing, and leaves no file. */
function mayHaveRun({ status, output_file_id, error_file_id }: SimulatedBatch): boolean {
  return status !== 'failed' || output_file_id !== null || error_file_id !== null;
}
