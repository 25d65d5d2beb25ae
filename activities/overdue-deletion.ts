import type { ActivityDependencies } from './dependencies.ts';
import { report } from './sweeps/sweep-each.ts';

/** In a row, an hour apart: what has failed as often is an operator's to see. */
const RAISED_AFTER = 3;

interface OverdueDeletion {
  readonly jobId: string;
  readonly tenantId: string;
  /** What could not be deleted. */
  readonly what: 'provider_files' | 'artifacts';
  readonly failures: number;
}

/** Raises a deletion that has failed several times. */
export async function raiseOverdue(
  dependencies: Pick<ActivityDependencies, 'db' | 'now' | 'log'>,
  { jobId, tenantId, what, failures }: OverdueDeletion,
): Promise<void> {
  if (failures < RAISED_AFTER) return;
  const facts = { what, failures };
  const subject = `${jobId} ${what}`;
  await report(dependencies, { kind: 'deletion_overdue', subject, jobId, tenantId, facts, repair: 'nothing' });
}
