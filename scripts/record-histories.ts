import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import { eventually } from '../tests/harness/eventually.ts';
import { startTestTemporal } from '../tests/harness/temporal-server.ts';
import { SCENARIOS } from '../tests/replay/scenarios.ts';
import { startFakeEngine } from '../tests/workflows/fake-engine.ts';

/**
 * Plays the scenarios of tests/replay on a throw-away server and keeps their histories for the replay test. A history
 * stays as it was recorded for as long as a workflow of its day may still run, so only what is missing is recorded;
 * `--again` records everything anew, which only makes sense before the first release or for a new major one.
 */
const DIRECTORY = path.resolve(import.meta.dirname, '../tests/replay/histories');
const again = process.argv.includes('--again');

if (again) await rm(DIRECTORY, { recursive: true, force: true });
await mkdir(DIRECTORY, { recursive: true });
const kept = await readdir(DIRECTORY);
const missing = SCENARIOS.filter(({ name }) => !kept.some((file) => file.startsWith(`${name}.`)));
console.log(`${SCENARIOS.length - missing.length} scenarios are recorded, ${missing.length} are not`);
if (missing.length > 0) await record(missing);

async function record(scenarios: typeof SCENARIOS): Promise<void> {
  const server = await startTestTemporal();
  try {
    const { temporalAddress: address = '', workflowBundle: codePath = '' } = server.provides;
    const engine = await startFakeEngine({
      address,
      namespace: 'default',
      workflowBundle: { codePath },
      identity: 'recorder',
    });
    try {
      for (const { name, play } of scenarios) {
        const workflowIds = await play(engine);
        for (const workflowId of workflowIds) await keepRuns(engine.client, name, workflowId);
        console.log(`${name}: ${workflowIds.length} workflows`);
      }
    } finally {
      await engine.stop();
    }
  } finally {
    await server.stop();
  }
}

/** One file for each run, named after the scenario, the workflow and the run's place. */
async function keepRuns(client: Client, scenario: string, workflowId: string): Promise<void> {
  for (const [index, runId] of (await listRuns(client, workflowId)).entries()) {
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    const bytes = proto.temporal.api.history.v1.History.encode(history).finish();
    const workflow = workflowId.split('/').toSpliced(1, 1).join('-');
    await writeFile(path.join(DIRECTORY, `${scenario}.${workflow}.${index + 1}.bin.gz`), gzipSync(bytes, { level: 9 }));
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
