import { readFile } from 'node:fs/promises';
import type { Client } from '@temporalio/client';
import { eventually } from '../tests/harness/eventually.ts';
import { startTestTemporal } from '../tests/harness/temporal-server.ts';
import type { Scenario } from '../tests/replay/scenario.ts';
import { SCENARIOS } from '../tests/replay/scenarios.ts';
import { dropVersion, keepRun, keepSources, listVersions, readRuns, readSources } from '../tests/replay/versions.ts';
import { readBundledSources, type WorkflowSources } from '../tests/replay/workflow-sources.ts';
import { startFakeEngine } from '../tests/workflows/fake-engine.ts';

/**
 * Plays the scenarios of tests/replay on a throw-away server and keeps their histories, and the sources they were made
 * with, for the replay tests. Workflow code that differs from the newest version's becomes the next version, beside
 * the older ones; where it is the same, only what is missing is recorded. `--again` records the newest version anew,
 * which is right only as long as it has never been deployed.
 */
const server = await startTestTemporal();
try {
  const { temporalAddress: address = '', workflowBundle: codePath = '' } = server.provides;
  const sources = readBundledSources(await readFile(codePath, 'utf8'));
  const version = chooseVersion(sources, process.argv.includes('--again'));
  keepSources(version, sources);
  const kept = new Set(readRuns([version]).map(({ scenario }) => scenario));
  const missing = SCENARIOS.filter(({ name }) => !kept.has(name));
  console.log(`${version}: ${SCENARIOS.length - missing.length} scenarios are recorded, ${missing.length} are not`);
  if (missing.length > 0) await record(missing, { version, address, codePath });
} finally {
  await server.stop();
}

function chooseVersion(sources: WorkflowSources, again: boolean): string {
  const newest = listVersions().at(-1);
  if (newest === undefined) return 'v1';
  if (again) {
    dropVersion(newest);
    return newest;
  }
  return isSame(readSources(newest), sources) ? newest : `v${Number(newest.slice(1)) + 1}`;
}

function isSame(one: WorkflowSources, other: WorkflowSources): boolean {
  return one.size === other.size && [...one].every(([name, source]) => other.get(name) === source);
}

async function record(
  scenarios: readonly Scenario[],
  { version, address, codePath }: { version: string; address: string; codePath: string },
): Promise<void> {
  const engine = await startFakeEngine({
    address,
    namespace: 'default',
    workflowBundle: { codePath },
    identity: 'recorder',
  });
  try {
    for (const { name, play } of scenarios) {
      const workflowIds = await play(engine);
      for (const workflowId of workflowIds) await keepRuns(engine.client, version, name, workflowId);
      console.log(`${name}: ${workflowIds.length} workflows`);
    }
  } finally {
    await engine.stop();
  }
}

/** One file for each run, named after the scenario, the workflow and the run's place. */
async function keepRuns(client: Client, version: string, scenario: string, workflowId: string): Promise<void> {
  const workflow = workflowId.split('/').toSpliced(1, 1).join('-');
  for (const [index, runId] of (await listRuns(client, workflowId)).entries()) {
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    keepRun(version, `${scenario}.${workflow}.${index + 1}`, history);
  }
}

/** Ids of all runs, oldest first, once every run has ended and the list, which follows a moment later, shows it. */
async function listRuns(client: Client, workflowId: string): Promise<string[]> {
  return eventually(async () => {
    const { runId: last } = await client.workflow.getHandle(workflowId).describe();
    const runs = [];
    for await (const run of client.workflow.list({ query: `WorkflowId = '${workflowId}'` })) runs.push(run);
    if (!runs.some(({ runId }) => runId === last) || runs.some(({ status }) => status.name === 'RUNNING')) return null;
    return runs.toSorted((one, other) => one.startTime.getTime() - other.startTime.getTime()).map(({ runId }) => runId);
  });
}
