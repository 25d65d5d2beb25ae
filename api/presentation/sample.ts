import type { BatchJob } from '../../contracts/job.ts';
import type { JobRecord } from '../../db/job-view.ts';
import { formatAmount, parseAmount } from '../../domain/money.ts';
import { extrapolateCost } from '../../domain/sample.ts';

/** Extrapolated from the cost that is shown with it, so that nobody can compute one from the other that is hidden. */
export function presentSample(
  { sampleOf, itemCount, completed, failed }: JobRecord,
  cost: BatchJob['cost'],
): BatchJob['sample'] {
  if (sampleOf === null) return null;
  const settled = parseAmount(cost.settled);
  const extrapolated = extrapolateCost({ settled, settledItems: completed + failed, ofItems: sampleOf.items });
  return {
    of_job_id: sampleOf.jobId,
    items: itemCount,
    of_items: sampleOf.items,
    extrapolated_cost: extrapolated === null ? null : formatAmount(extrapolated),
  };
}
