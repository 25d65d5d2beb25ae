import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createControl } from '../../simulators/control-client.ts';
import { startSimulators } from '../../simulators/start.ts';
import { faultMenu } from './fault-menu.ts';
import { type ActKind, PROVIDERS, planSeed } from './plan.ts';

const FIFTY = Array.from({ length: 50 }, (_, index) => planSeed(index + 1));

const KINDS = {
  kill_api: true,
  kill_worker: true,
  kill_all: true,
  freeze_worker: true,
  restart_temporal: true,
  restart_postgres: true,
  cut_connections: true,
  fault: true,
  advance_clock: true,
  cancel_job: true,
  cancel_at_provider: true,
  terminate: true,
  poll_now: true,
} as const satisfies { [kind in ActKind]: true };

test('a seed gives one plan, and another seed another', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000_000 }), (seed) => {
      expect(planSeed(seed)).toEqual(planSeed(seed));
      expect(planSeed(seed).acts).not.toEqual(planSeed(seed + 1).acts);
    }),
  );
});

test('every kind of act, and every way of it, occurs in the first fifty seeds', () => {
  const acts = FIFTY.flatMap((plan) => plan.acts.map(({ act }) => act));
  expect(new Set(acts.map(({ kind }) => kind))).toEqual(new Set(Object.keys(KINDS)));
  const ways = acts.map((act) =>
    'mode' in act ? act.mode : 'road' in act ? act.road : 'what' in act ? act.what : null,
  );
  for (const way of ['fast', 'immediate', 'crash', 'api', 'signal', 'temporal', 'job', 'shards', 'both'])
    expect(ways).toContain(way);
  expect(new Set(FIFTY.flatMap(({ jobs }) => jobs.map(({ tries }) => tries)))).toEqual(new Set([1, 2, 3]));
  expect(new Set(FIFTY.map(({ windowsPass }) => windowsPass))).toEqual(new Set([true, false]));
});

test('each seed has jobs at every provider, of several shards, and acts in the order of time', () => {
  for (const { jobs, acts, tenants } of FIFTY) {
    expect(new Set(jobs.map(({ provider }) => provider))).toEqual(new Set(PROVIDERS));
    expect(jobs.every(({ tenant }) => tenants[tenant] !== undefined)).toBe(true);
    const times = acts.map(({ atMs }) => atMs);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  }
  const shards = FIFTY.flatMap(({ jobs }) => jobs).map((job) => job.appends.flat().length / job.maxItemsPerShard);
  expect(shards.filter((count) => count > 1).length).toBeGreaterThan(shards.length / 2);
});

test('the simulators know every fault of the menu', async () => {
  const simulators = await startSimulators();
  try {
    const control = createControl(simulators.controlUrl);
    const faults = PROVIDERS.flatMap((provider) =>
      faultMenu(provider).flatMap(({ route, actions }) => actions.map((action) => ({ provider, route, action }))),
    );
    expect(await control.faults(...faults)).toHaveLength(faults.length);
  } finally {
    await simulators.close();
  }
});
