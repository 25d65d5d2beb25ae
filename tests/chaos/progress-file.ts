import { readFile, rename, writeFile } from 'node:fs/promises';
import { z } from 'zod';

const Progress = z.object({ passed: z.array(z.number()), failed: z.array(z.number()) });
export type Progress = z.infer<typeof Progress>;

/** Which seeds are done, as a file that survives the run; without a file nothing is remembered. */
export async function readProgress(path: string | null): Promise<Progress> {
  const text = path === null ? null : await readFile(path, 'utf8').catch(() => null);
  return text === null ? { passed: [], failed: [] } : Progress.parse(JSON.parse(text));
}

/** What is known after one more seed; a seed that was played again counts as it went last. */
export function withSeed({ passed, failed }: Progress, seed: number, isSound: boolean): Progress {
  const others = (seeds: readonly number[]) => seeds.filter((other) => other !== seed);
  return {
    passed: isSound ? [...others(passed), seed] : others(passed),
    failed: isSound ? others(failed) : [...others(failed), seed],
  };
}

/** Replaces the file whole, so that a run killed in between leaves one that can be read. */
export async function writeProgress(path: string | null, progress: Progress): Promise<void> {
  if (path === null) return;
  await writeFile(`${path}.new`, `${JSON.stringify(progress)}\n`);
  await rename(`${path}.new`, path);
}
