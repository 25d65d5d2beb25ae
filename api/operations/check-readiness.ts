import type { Readiness } from '../../contracts/health.ts';
import { within } from '../deadline.ts';
import type { ApiDependencies } from '../dependencies.ts';

const LIMIT_MS = 2_000;

/** Asks Postgres and Temporal at once; an answer that takes too long is none. */
export async function checkReadiness({ db, workflows }: Pick<ApiDependencies, 'db' | 'workflows'>): Promise<Readiness> {
  const asked = db.pool.query('SELECT 1').then(
    () => true,
    () => false,
  );
  const [postgres, temporal] = await Promise.all([
    within(asked, LIMIT_MS, false),
    within(workflows.isReachable(), LIMIT_MS, false),
  ]);
  return {
    status: postgres && temporal ? 'ready' : 'not_ready',
    dependencies: { postgres: postgres ? 'ok' : 'unreachable', temporal: temporal ? 'ok' : 'unreachable' },
  };
}
