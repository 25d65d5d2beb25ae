import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, Worker } from '@temporalio/worker';
import { beforeAll, expect, test } from 'vitest';
import { installQuietRuntime, quietLogger } from '../workflows/quiet-runtime.ts';
import { listVersions, newestVersion, type RecordedRun, readRuns, readSources } from './versions.ts';
import { bundleSources } from './workflow-sources.ts';

const YEAR_S = 365 * 86_400;
/** Scenarios that between them take most of the steps there are. */
const SEVERAL = ['several-shards', 'recovered', 'cancelled-while-polling', 'unanswered-create-sent-again'];
/** All histories at once, on a busy machine. */
const PATIENT = { timeout: 60_000 };

let code = '';
beforeAll(async () => {
  installQuietRuntime();
  const workflowsPath = fileURLToPath(new URL('../../workflows/index.ts', import.meta.url));
  code = (await bundleWorkflowCode({ workflowsPath, logger: quietLogger })).code;
});

/** The newest runs of one scenario. */
function newestRuns(scenario: string, workflow = ''): RecordedRun[] {
  return readRuns([newestVersion()]).filter(({ name }) => name.startsWith(`${scenario}.${workflow}`));
}

/** The recorded runs that workflow code can no longer follow, each with the reason. */
async function replay(workflowCode: string, histories: readonly RecordedRun[]): Promise<string[]> {
  const named = histories.map(({ version, name, history }) => ({ workflowId: `${version}/${name}`, history }));
  const broken: string[] = [];
  let replayed = 0;
  for await (const { workflowId, error } of Worker.runReplayHistories(
    { workflowBundle: { code: workflowCode } },
    named,
  )) {
    replayed += 1;
    if (error !== undefined) broken.push(`${workflowId}: ${error.message}`);
  }
  expect(replayed).toBe(histories.length);
  return broken;
}

/** As if everything had happened that many years later. */
function shifted(run: RecordedRun, years: number): RecordedRun {
  for (const { eventTime } of run.history.events) {
    if (eventTime?.seconds) eventTime.seconds = eventTime.seconds.add(years * YEAR_S);
  }
  return run;
}

function changed(from: string, to: string): string {
  expect(code.split(from)).toHaveLength(2);
  return code.replace(from, () => to);
}

test.each(listVersions())(
  'every run recorded with %s can be followed by the code of today',
  PATIENT,
  async (version) => {
    expect(await replay(code, readRuns([version]))).toEqual([]);
  },
);

test.each(listVersions())('the sources kept of %s are those its runs were recorded with', PATIENT, async (version) => {
  const kept = await bundleSources(readSources(version));
  const some = readRuns([version]).filter(({ scenario }) => SEVERAL.includes(scenario));
  expect(await replay(kept.code, some)).toEqual([]);
});

test.each([-10, 10])('a clock that is %d years off changes no decision', PATIENT, async (years) => {
  expect(
    await replay(
      code,
      readRuns([newestVersion()]).map((run) => shifted(run, years)),
    ),
  ).toEqual([]);
});

test('a decision by a clock that the sandbox does not control is caught', async () => {
  const unpatched = 'Temporal.Now.instant().epochMilliseconds - Date.now() > 5 * 365 * 86_400_000';
  const planted = changed('return info.continueAsNewSuggested ||', `return ${unpatched} ||`);
  expect(await replay(planted, newestRuns('happy-path'))).toEqual([]);
  const past = newestRuns('happy-path').map((run) => shifted(run, -10));
  expect(await replay(planted, past)).toHaveLength(past.length);
});

test.each([
  ['left out', 'await run.plan();', ''],
  ['moved', 'const verdict = await run.admit();', 'await run.plan(); const verdict = await run.admit();'],
])('a step that was %s without a patch is caught', async (_what, from, to) => {
  const [broken, ...others] = await replay(changed(from, to), newestRuns('happy-path', 'batch-job'));
  expect(broken).toMatch(/Nondeterminism/);
  expect(others).toEqual([]);
});
