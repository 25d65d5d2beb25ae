import { type NewFinding, recordFinding } from '../../db/sweep-findings.ts';
import type { ActivityDependencies } from '../dependencies.ts';
import { beat } from '../heartbeats.ts';
import type { SweepResult } from '../interfaces.ts';

type Dependencies = Pick<ActivityDependencies, 'db' | 'now' | 'log'>;

/** As many failures in a row are no longer about what was swept: what lies beneath is away. */
const MAX_FAILURES_IN_A_ROW = 10;

/**
 * Looks into each of some suspects, one after the other. `look` repairs what it can and answers the finding, or null where
 * there was none after all. One that fails is logged, raised and passed over, so that it holds up no other; the sweep fails
 * once ten in a row did.
 */
export async function sweepEach<Suspect>(
  dependencies: Dependencies,
  suspects: readonly Suspect[],
  nameOf: (suspect: Suspect) => string,
  look: (suspect: Suspect) => Promise<NewFinding | null>,
): Promise<SweepResult> {
  const result = { looked: 0, repaired: 0, raised: 0, failed: 0 };
  let failuresInARow = 0;
  for (const suspect of suspects) {
    beat();
    result.looked += 1;
    try {
      const finding = await look(suspect);
      if (finding !== null) result[await report(dependencies, finding)] += 1;
      failuresInARow = 0;
    } catch (error) {
      result.failed += 1;
      failuresInARow += 1;
      if (failuresInARow === MAX_FAILURES_IN_A_ROW) throw error;
      await reportFailure(dependencies, nameOf(suspect), error);
    }
  }
  return result;
}

/** Keeps and logs a finding; answers whether it was repaired or is left to an operator. */
export async function report(
  { db, now, log }: Dependencies,
  finding: NewFinding,
): Promise<Awaited<ReturnType<typeof recordFinding>>> {
  const outcome = await recordFinding(db.pool, finding, now());
  const { kind, subject, jobId, facts } = finding;
  log.warn({ ...facts, kind, subject, jobId, outcome }, 'sweep finding');
  return outcome;
}

async function reportFailure(dependencies: Dependencies, subject: string, error: unknown): Promise<void> {
  const facts = { error: error instanceof Error ? error.name : typeof error };
  dependencies.log.warn({ subject, ...facts }, 'a sweep passed over what it failed at');
  const finding = { kind: 'sweep_failed', subject, jobId: null, tenantId: null, facts, repair: 'nothing' } as const;
  // Where nothing can be written, the log has to do.
  await recordFinding(dependencies.db.pool, finding, dependencies.now()).catch(() => undefined);
}
