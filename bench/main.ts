import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { childEnvironment } from '../config/env.ts';
import { migrate } from '../db/migrations.ts';
import { choosePort } from '../local/ports.ts';
import { startPostgres } from '../local/postgres.ts';
import { measureAnalytics } from './analytics.ts';
import { measureIntake } from './intake.ts';
import { measureJobs } from './job.ts';
import { type Measurement, meetsGoal } from './measurement.ts';
import { measureSettlement } from './settlement.ts';
import { measureTasks } from './tasks.ts';

/**
 * Measures the gateway as ratios on this machine in this run, starting its own servers. `--only intake,settlement,analytics,jobs,tasks`
 * picks; `--large` adds a million items to each.
 */
const { values } = parseArgs({ options: { only: { type: 'string' }, large: { type: 'boolean' } } });
const wanted = values.only?.split(',') ?? ['intake', 'settlement', 'analytics', 'jobs', 'tasks'];
const ownStack = ['jobs', 'tasks'];
const sizes = values.large ? [1_000, 10_000, 50_000, 1_000_000] : [1_000, 10_000, 50_000];
const bulkSizes = values.large ? [10_000, 100_000, 1_000_000] : [10_000, 100_000];
const TASKS = 1_000;
const measurements: Measurement[] = [];

if (wanted.some((part) => !ownStack.includes(part))) {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'batchgate-bench-'));
  const postgres = await startPostgres({
    dataDirectory,
    port: await choosePort(0),
    ephemeral: false,
    log: console.error,
  });
  try {
    await migrate(postgres.url);
    if (wanted.includes('intake')) for (const each of await measureIntake(postgres.url, bulkSizes)) report(each);
    if (wanted.includes('settlement'))
      for (const each of await measureSettlement(postgres.url, bulkSizes)) report(each);
    if (wanted.includes('analytics')) report(await measureAnalytics(postgres.url));
  } finally {
    await postgres.stop();
    await rm(dataDirectory, { recursive: true, force: true });
  }
}
if (wanted.includes('jobs'))
  for (const measurement of await measureJobs(childEnvironment({}), sizes)) report(measurement);
if (wanted.includes('tasks'))
  for (const measurement of await measureTasks(childEnvironment({}), TASKS)) report(measurement);

const short = measurements.filter((measurement) => !meetsGoal(measurement));
console.log(
  short.length === 0 ? '\nEvery goal is met.' : `\nShort of the goal: ${short.map(({ name }) => name).join('; ')}.`,
);

function report(measurement: Measurement): void {
  measurements.push(measurement);
  const goal = 'atLeast' in measurement.goal ? `≥ ${measurement.goal.atLeast}` : `≤ ${measurement.goal.atMost}`;
  console.log(
    `${meetsGoal(measurement) ? 'ok   ' : 'SHORT'} ${measurement.ratio.toFixed(2).padStart(6)}  (goal ${goal})  ${measurement.name}\n        ${measurement.detail}`,
  );
}
