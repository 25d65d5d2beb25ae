import type { TestProject } from 'vitest/node';
import { shareServers } from './share-servers.ts';
import { startTestTemporal } from './temporal-server.ts';

/** A Temporal dev server and the workflow bundle, once for all projects of a run. */
export function setup(project: TestProject): Promise<() => Promise<void>> {
  return shareServers(project, 'temporal', [startTestTemporal]);
}
