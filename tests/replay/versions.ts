import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import proto from '@temporalio/proto';
import type { WorkflowSources } from './workflow-sources.ts';

/**
 * What is kept of each version of the workflow code that was ever at work: one folder a version, with its sources and
 * the histories it left. Older ones stay for as long as a workflow of their day may still run.
 */
const DIRECTORY = path.join(import.meta.dirname, 'histories');
const SOURCES = 'workflows.json.gz';
const HISTORY = '.bin.gz';

const { History } = proto.temporal.api.history.v1;
export type RecordedHistory = ReturnType<typeof History.decode>;

/** One run: the scenario it is of, the workflow in it, and the run's place among its runs. */
export interface RecordedRun {
  readonly version: string;
  /** `<scenario>.<workflow>.<run>` */
  readonly name: string;
  readonly scenario: string;
  readonly history: RecordedHistory;
}

/** `v1`, `v2`, …, oldest first. */
export function listVersions(): string[] {
  if (!existsSync(DIRECTORY)) return [];
  return readdirSync(DIRECTORY).toSorted((one, other) => Number(one.slice(1)) - Number(other.slice(1)));
}

export function newestVersion(): string {
  const newest = listVersions().at(-1);
  if (newest === undefined) throw new Error('no version of the workflow code is recorded');
  return newest;
}

/** The runs of a version, or of all; decoded anew at each call, so that a test may doctor them. */
export function readRuns(versions: readonly string[] = listVersions()): RecordedRun[] {
  return versions.flatMap((version) =>
    historyFiles(version).map((file) => {
      const name = file.slice(0, -HISTORY.length);
      const history = History.decode(gunzipSync(readFileSync(path.join(DIRECTORY, version, file))));
      return { version, name, scenario: name.split('.')[0] ?? '', history };
    }),
  );
}

export function readSources(version: string): WorkflowSources {
  const text = gunzipSync(readFileSync(path.join(DIRECTORY, version, SOURCES))).toString('utf8');
  return new Map(Object.entries<string>(JSON.parse(text)));
}

/** Bytes of everything kept of a version. */
export function bytesOf(version: string): number {
  const files = readdirSync(path.join(DIRECTORY, version));
  return files.reduce((sum, file) => sum + readFileSync(path.join(DIRECTORY, version, file)).byteLength, 0);
}

export function keepSources(version: string, sources: WorkflowSources): void {
  mkdirSync(path.join(DIRECTORY, version), { recursive: true });
  const text = JSON.stringify(Object.fromEntries([...sources].toSorted()));
  writeFileSync(path.join(DIRECTORY, version, SOURCES), gzipSync(text, { level: 9 }));
}

export function keepRun(version: string, name: string, history: Parameters<typeof History.encode>[0]): void {
  const bytes = gzipSync(History.encode(history).finish(), { level: 9 });
  writeFileSync(path.join(DIRECTORY, version, `${name}${HISTORY}`), bytes);
}

/** For a version that never left this machine. */
export function dropVersion(version: string): void {
  rmSync(path.join(DIRECTORY, version), { recursive: true, force: true });
}

function historyFiles(version: string): string[] {
  return readdirSync(path.join(DIRECTORY, version)).filter((file) => file.endsWith(HISTORY));
}
