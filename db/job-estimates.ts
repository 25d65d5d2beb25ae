import type pg from 'pg';
import { formatNumeric } from '../domain/money.ts';
import type { QuoteLine } from '../domain/quote.ts';
import type { JobKey } from './job-rows.ts';

/** Keeps what an accepted job is expected to cost by model; lines that share one are summed. */
export async function insertJobEstimates(
  client: Pick<pg.ClientBase, 'query'>,
  job: JobKey,
  lines: readonly Pick<QuoteLine, 'provider' | 'model' | 'items' | 'amount'>[],
): Promise<void> {
  await client.query(
    `INSERT INTO job_estimates (job_id, provider, model, items, estimated_amount)
     SELECT $1, provider, model, sum(items), sum(amount)
     FROM unnest($2::text[], $3::text[], $4::int[], $5::numeric[]) AS line (provider, model, items, amount)
     GROUP BY provider, model`,
    [
      job.uuid,
      lines.map(({ provider }) => provider),
      lines.map(({ model }) => model),
      lines.map(({ items }) => items),
      lines.map(({ amount }) => formatNumeric(amount)),
    ],
  );
}
