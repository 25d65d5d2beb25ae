import { setTimeout as delay } from 'node:timers/promises';
import { createKey } from '../../db/api-keys.ts';
import { toUuid } from '../../db/ids.ts';
import { insertTenant } from '../harness/jobs.ts';
import type { ChaosStack } from './chaos-stack.ts';
import { findBroken, isAtRest } from './laws.ts';
import { performAct, type Scene } from './perform-act.ts';
import type { SeedPlan } from './plan.ts';
import { type JobTrace, newTrace, runJob } from './run-job.ts';
import { StubbornClient } from './stubborn-client.ts';

/** How a seed went. */
export interface SeedResult {
  readonly plan: SeedPlan;
  readonly tookMs: number;
  /** Ids and ends of its jobs, in the plan's order. */
  readonly jobs: readonly { readonly jobId: string | null; readonly state: string }[];
  /** What does not hold, each as one sentence; none where the seed passed. */
  readonly broken: readonly string[];
}

const AT_REST_WITHIN_MS = 150_000;
const LOOK_EVERY_MS = 250;
/** The sweep runs once a minute by itself. */
const SWEEP_EVERY_MS = 4_000;
const AN_HOUR_MS = 3_600_000;
/** Longer than the window of any provider. */
const ALL_WINDOWS_MS = 50 * AN_HOUR_MS;

/** Plays one seed on a stack at rest and judges it. Leaves a stack at rest where the seed passed. */
export async function playSeed(stack: ChaosStack, plan: SeedPlan): Promise<SeedResult> {
  const startedAt = performance.now();
  const since = new Date();
  const scene = await setScene(stack, plan);
  const broken: string[] = [];
  try {
    await playPlan(scene, plan, startedAt, broken);
    await bringToRest(scene, plan);
    await stack.ready();
    broken.push(...(await findBroken(scene, since)));
  } catch (error) {
    broken.push(describe(error));
  }
  const states = await readStates(scene).catch(() => new Map<string, string>());
  const jobs = scene.jobs.map(({ jobId }) => ({ jobId, state: states.get(jobId ?? '') ?? 'unknown' }));
  await stack.control.reset();
  return { plan, tookMs: Math.round(performance.now() - startedAt), jobs, broken };
}

async function setScene(stack: ChaosStack, plan: SeedPlan): Promise<Scene> {
  const clients = await Promise.all(
    plan.tenants.map(async ({ limit }) => {
      const { tenantId } = await insertTenant(stack.db, { limit });
      const { key } = await createKey(stack.db.pool, { role: 'tenant_admin', name: 'chaos', tenantId });
      return new StubbornClient(stack.apiUrl, key);
    }),
  );
  const jobs = plan.jobs.map(newTrace);
  const clientOf = ({ plan: { tenant } }: JobTrace): StubbornClient => {
    const client = clients[tenant];
    if (client === undefined) throw new Error(`the plan has no tenant ${tenant}`);
    return client;
  };
  return { stack, jobs, clients: jobs.map(clientOf) };
}

/** All jobs and all acts, each at its time; resolves when every client has its answers and every act is done. */
async function playPlan(scene: Scene, plan: SeedPlan, startedAt: number, broken: string[]): Promise<void> {
  const at = (ms: number) => delay(Math.max(0, startedAt + ms - performance.now()));
  const jobs = scene.jobs.map(async (trace, index) => {
    const client = scene.clients[index];
    await at(trace.plan.startsAtMs);
    if (client !== undefined) await runJob(client, trace, `seed-${plan.seed}-job-${index}`);
  });
  const acts = plan.acts.map(async ({ atMs, act }) => {
    await at(atMs);
    await performAct(scene, act);
  });
  const ends = await Promise.allSettled([...jobs, ...acts]);
  for (const end of ends) if (end.status === 'rejected') broken.push(describe(end.reason));
}

/** No more faults; delays end, stuck batches go on or expire; then waits until every job is at rest. */
async function bringToRest(scene: Scene, plan: SeedPlan): Promise<void> {
  const { stack } = scene;
  await stack.control.clearFaults();
  const jumpMs = plan.windowsPass ? ALL_WINDOWS_MS : AN_HOUR_MS;
  await stack.control.advance(jumpMs);
  const deadline = performance.now() + AT_REST_WITHIN_MS;
  let sweptAt = performance.now();
  for (;;) {
    const states = await readStates(scene).catch(() => null);
    if (states !== null && [...states.values()].every(isAtRest)) return;
    if (performance.now() > deadline) throw new Error(`not at rest: ${JSON.stringify([...(states ?? [])])}`);
    if (performance.now() - sweptAt > SWEEP_EVERY_MS) {
      sweptAt = performance.now();
      await sweep(stack);
      // For batches made since the last jump.
      await stack.control.advance(jumpMs);
    }
    await letGo(stack);
    await delay(LOOK_EVERY_MS);
  }
}

async function readStates({ stack, jobs }: Scene): Promise<Map<string, string>> {
  const ids = jobs.flatMap(({ jobId }) => (jobId === null ? [] : [jobId]));
  const { rows } = await stack.db.pool.query<{ place: number; state: string }>(
    `SELECT place::int, state FROM unnest($1::uuid[]) WITH ORDINALITY AS t (job_id, place) JOIN batch_jobs USING (job_id)`,
    [ids.map((jobId) => toUuid('job', jobId))],
  );
  return new Map(rows.map(({ place, state }) => [ids[place - 1] ?? '', state]));
}

/** Also those made since, under a fault that was still there. */
async function letGo({ control }: ChaosStack): Promise<void> {
  for (const batch of Object.values(await control.batches()).flat()) {
    const id = idOf(batch);
    if (id !== null) await control.batch(id, { stuck: null });
  }
}

function idOf(batch: unknown): string | null {
  if (typeof batch !== 'object' || batch === null) return null;
  const id = 'id' in batch ? batch.id : 'name' in batch ? batch.name : null;
  return typeof id === 'string' ? id : null;
}

async function sweep({ temporal }: ChaosStack): Promise<void> {
  const trigger = () => temporal.schedule.getHandle('batchgate/reconcile').trigger();
  await temporal.connection.withDeadline(Date.now() + 2_000, trigger).catch(() => undefined);
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message} (${describe(error.cause)})`;
}
