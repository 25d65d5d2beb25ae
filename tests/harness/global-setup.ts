import type { TestProject } from 'vitest/node';
import { startTestPostgres } from './postgres-server.ts';
import { shareServers } from './share-servers.ts';

/** Postgres, once for all projects of a run. */
export function setup(project: TestProject): Promise<() => Promise<void>> {
  return shareServers(project, 'postgres', [startTestPostgres]);
}
