import { listOpenRuns } from '../../db/document-runs.ts';
import { listStillDocuments } from '../../db/still-documents.ts';
import type { ActivityDependencies } from '../dependencies.ts';
import type { MaintenanceActivities } from '../interfaces.ts';
import { sweepEach } from './sweep-each.ts';

/** Longer than the api takes to hand a run over. */
const SETTLING_IN_MS = 60_000;
/** Longer than any worker that lives, and any wait for a worker, leaves a document alone. */
const STILL_MS = 10 * 60_000;
const MAX_RUNS = 500;
const MAX_DOCUMENTS = 200;

/** Runs over documents that are not over: starts the workflow of each that has none. */
export function createSweepRuns(dependencies: ActivityDependencies): MaintenanceActivities['sweepRuns'] {
  const { db, runs, now } = dependencies;
  return async () =>
    sweepEach(
      dependencies,
      await listOpenRuns(db.pool, new Date(now().getTime() - SETTLING_IN_MS), MAX_RUNS),
      ({ runId }) => runId,
      async (run) => {
        if (!(await runs.start(run))) return null;
        const { runId, tenantId, mode, documents } = run;
        const finding = { kind: 'run_without_workflow', subject: runId, jobId: runId, tenantId } as const;
        return { ...finding, facts: { mode, documents }, repair: 'done' };
      },
    );
}

/** Documents in the state `processing` that nobody has been at for long: wakes their runs, and raises those that it did not help. */
export function createSweepDocuments(dependencies: ActivityDependencies): MaintenanceActivities['sweepDocuments'] {
  const { db, runs, now } = dependencies;
  return async () =>
    sweepEach(
      dependencies,
      await listStillDocuments(db.pool, new Date(now().getTime() - STILL_MS), MAX_DOCUMENTS),
      ({ documentId }) => documentId,
      async ({ documentId, runId, tenantId, attempts, since }) => {
        await runs.wake(runId);
        const finding = { kind: 'document_without_progress', subject: documentId, jobId: runId, tenantId } as const;
        return { ...finding, facts: { attempts, since: since.toISOString() }, repair: 'asked' };
      },
    );
}
