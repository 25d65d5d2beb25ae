import { type ChaosOptions, parseOptions } from './options.ts';
import { readProgress, withSeed, writeProgress } from './progress-file.ts';
import { runSeeds } from './run-seeds.ts';

/**
 * Plays seeded schedules of faults over the whole stack and checks what must hold in the end; see docs/chaos.md. Exits
 * with 1 when a seed failed.
 */
try {
  await run(parseOptions(process.argv.slice(2)));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

async function run({ seeds, resume, keepLogs }: ChaosOptions): Promise<void> {
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());
  let progress = await readProgress(resume);
  const left = seeds.filter((seed) => !progress.passed.includes(seed));
  const say = (text: string): void => {
    process.stdout.write(`${text}\n`);
  };
  if (left.length < seeds.length) say(`${seeds.length - left.length} of ${seeds.length} seeds have passed before`);
  let played = 0;
  const failed = await runSeeds({
    seeds: left,
    keepLogs,
    say,
    signal: stop.signal,
    onSeed: async ({ plan, broken }) => {
      played += 1;
      progress = withSeed(progress, plan.seed, broken.length === 0);
      await writeProgress(resume, progress);
    },
  });
  say(`${played - failed.length} of ${played} seeds hold`);
  if (failed.length > 0) say(`failed: ${failed.map(({ plan }) => plan.seed).join(', ')}`);
  if (played < left.length) say(`stopped by a signal with ${left.length - played} seeds left`);
  process.exitCode = failed.length === 0 && played === left.length ? 0 : 1;
}
