import type { Act, JobPlan } from './plan.ts';
import type { SeedResult } from './play-seed.ts';

/** One line for a seed that passed. */
export function summarizeSeed({ plan, tookMs, jobs }: SeedResult): string {
  const states = jobs.map(({ state }) => state).toSorted();
  const counts = [...new Set(states)].map((state) => `${states.filter((each) => each === state).length} ${state}`);
  return `seed ${plan.seed}: holds after ${(tookMs / 1_000).toFixed(1)} s (${counts.join(', ')})`;
}

/** Everything a reader needs to see what went wrong, and to play it again. */
export function describeFailure({ plan, tookMs, jobs, broken }: SeedResult): string {
  return [
    `seed ${plan.seed}: FAILED after ${(tookMs / 1_000).toFixed(1)} s`,
    ...broken.map((fault) => `  - ${fault}`),
    `  tenants: ${plan.tenants.map(({ limit }) => limit).join(', ')}; windows pass: ${plan.windowsPass ? 'yes' : 'no'}`,
    '  jobs:',
    ...plan.jobs.map((job, index) => `    ${index}  ${describeJob(job)}; ${jobs[index]?.jobId}: ${jobs[index]?.state}`),
    '  schedule:',
    ...plan.acts.map(({ atMs, act }) => `    ${String(atMs).padStart(5)} ms  ${describeAct(act)}`),
    `  again: npm run chaos -- --seed ${plan.seed}`,
  ].join('\n');
}

function describeJob(job: JobPlan): string {
  const texts = job.appends.flat();
  const marks = texts.flatMap((text, place) => {
    const own = [...text.matchAll(/\[\[sim:(?!text=)[^\]]*\]\]/g)].map(([mark]) => mark);
    return own.length === 0 ? [] : [`row_${place + 1} ${own.join('')}`];
  });
  const parts = [
    `at ${job.startsAtMs} ms`,
    job.model,
    `${texts.length} items in ${job.appends.length} appends, ${job.maxItemsPerShard} a shard`,
    `tenant ${job.tenant}`,
    ...(job.doubles ? ['every call twice'] : []),
    ...(job.tries === 1 ? [] : [`${job.tries} tries`]),
    ...(job.maxCost === null ? [] : [`at most ${job.maxCost}`]),
    ...marks,
  ];
  return parts.join(', ');
}

function describeAct({ kind, ...details }: Act): string {
  const values = Object.values(details);
  return values.length === 0 ? kind : `${kind} ${values.map((value) => JSON.stringify(value)).join(' ')}`;
}
