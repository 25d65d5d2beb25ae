import { Readable } from 'node:stream';
import { ApplicationFailure } from '@temporalio/activity';
import { findSchedule, type ScheduleRow } from '../../db/batch-schedules.ts';
import { takeItems } from '../../db/intake/take-items.ts';
import { lockIntakeJob } from '../../db/intake-job.ts';
import { copyManifest, findCopySource, requireCopySource } from '../../db/manifest-copy.ts';
import { findRun } from '../../db/schedule-runs.ts';
import { requireCapsOfFilledJob } from '../../db/tenant-caps.ts';
import { inTransaction } from '../../db/transaction.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import { guardedFetch } from '../../outgoing/guarded-fetch.ts';
import { OutgoingError, type OutgoingFault } from '../../outgoing/guarded-request.ts';
import { cancellationSignal, whileBeating } from '../heartbeats.ts';
import type { ScheduleActivities } from '../interfaces.ts';
import type { ScheduleDependencies } from './dependencies.ts';
import { end } from './run-end.ts';

const MAX_FETCH_BYTES = 2 * 1024 ** 3;
const FETCH_MS = 30 * 60_000;
const IDLE_MS = 60_000;

/** What another look may find mended. */
const MAY_PASS: readonly OutgoingFault[] = ['unreachable', 'timed_out', 'tls_failed', 'unexpected_status'];

/**
 * Gives the firing's draft its items: a copy of another job's, or what the URL holds now, checked like any manifest. A
 * repeat replaces them. Throws a retryable failure for a URL that may answer later; every other fault ends the run.
 */
export function createFillJob(dependencies: ScheduleDependencies): ScheduleActivities['fillJob'] {
  const { db } = dependencies;
  return async (firing) => {
    const run = await findRun(db.pool, firing.scheduleId, firing.firing);
    const schedule = await findSchedule(db.pool, null, firing.scheduleId);
    if (run?.outcome != null) return { kind: 'over', outcome: run.outcome };
    if (run?.jobId == null || schedule === null)
      return end(dependencies, firing, 'failed', { code: 'not_found', message: 'The schedule was deleted meanwhile.' });
    const { jobId } = run;
    const { manifest_of_job: source, items_url: url } = schedule.items;
    try {
      if (source !== undefined) await copy(dependencies, schedule, source, jobId);
      else await whileBeating(() => fetchInto(dependencies, schedule, url ?? '', jobId));
    } catch (error) {
      if (error instanceof OutgoingError) {
        const { fault, message } = error;
        if (MAY_PASS.includes(fault)) throw ApplicationFailure.create({ type: 'items_unavailable', message });
        return end(dependencies, firing, 'failed', { code: 'items_unavailable', message });
      }
      if (!(error instanceof GatewayError)) throw error;
      if (error.code === 'job_busy' || error.code === 'dependency_unavailable') throw error;
      return end(dependencies, firing, 'failed', { code: error.code, message: error.message });
    }
    return schedule.submits ? { kind: 'go_on' } : end(dependencies, firing, 'created');
  };
}

async function copy(
  { db }: ScheduleDependencies,
  schedule: ScheduleRow,
  sourceId: string,
  jobId: string,
): Promise<void> {
  const source = requireCopySource(await findCopySource(db.pool, schedule, sourceId), schedule);
  await whileBeating(() =>
    inTransaction(
      db,
      async (client) => {
        const draft = await lockIntakeJob(client, schedule, jobId);
        if (draft === null) throw new GatewayError('not_found', 'The draft was deleted meanwhile.');
        // Filled by an earlier run, which did not live to tell.
        if (draft.state !== 'draft' || draft.itemCount > 0) return;
        await copyManifest(client, source, jobId);
        await requireCapsOfFilledJob(client, draft.tenantId, draft.uuid);
      },
      { statementTimeoutMs: 0 },
    ),
  );
}

async function fetchInto(
  dependencies: ScheduleDependencies,
  schedule: ScheduleRow,
  url: string,
  jobId: string,
): Promise<void> {
  const signal = AbortSignal.any([cancellationSignal(), AbortSignal.timeout(FETCH_MS)]);
  const { allowedFetchHosts: allowedHosts } = dependencies;
  const fetched = await guardedFetch({ url, allowedHosts, maxBytes: MAX_FETCH_BYTES, idleMs: IDLE_MS, signal });
  const { tenantId, projectId, customerId, apiKeyId: keyId } = schedule;
  // What the body's own fault was is more than that it broke off.
  let fault: unknown;
  async function* watched(): AsyncGenerator<Buffer> {
    try {
      yield* fetched.body;
    } catch (error) {
      fault = error;
      throw error;
    }
  }
  const stream = Readable.from(watched(), { objectMode: false });
  try {
    await takeItems(
      dependencies,
      {
        principal: { keyId, role: 'tenant_admin', tenantId, projectId, customerId, scopes: [] },
        jobId,
        format: 'ndjson',
        stream,
        contentEncoding: fetched.contentEncoding,
      },
      { mode: 'replace', detectGzip: true },
    );
  } catch (error) {
    throw fault ?? error;
  } finally {
    stream.destroy();
  }
}
