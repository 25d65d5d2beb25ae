import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import proto from '@temporalio/proto';
import { bundleWorkflowCode, Worker } from '@temporalio/worker';
import { beforeAll, expect, test } from 'vitest';
import { installQuietRuntime, quietLogger } from '../workflows/quiet-runtime.ts';
import { SCENARIOS } from './scenarios.ts';

const DIRECTORY = path.join(import.meta.dirname, 'histories');
const MAX_BYTES = 300_000;
const YEAR_S = 365 * 86_400;
/** All histories at once, on a busy machine. */
const PATIENT = { timeout: 60_000 };

type History = ReturnType<typeof proto.temporal.api.history.v1.History.decode>;
interface Recorded {
  readonly name: string;
  readonly history: History;
}

let code = '';
beforeAll(async () => {
  installQuietRuntime();
  const workflowsPath = fileURLToPath(new URL('../../workflows/index.ts', import.meta.url));
  code = (await bundleWorkflowCode({ workflowsPath, logger: quietLogger })).code;
});

/** The recorded histories, decoded anew at each call, so that a test may doctor them. */
function readHistories(scenario = ''): Recorded[] {
  const names = readdirSync(DIRECTORY).filter((name) => name.startsWith(scenario));
  return names.map((name) => ({
    name,
    history: proto.temporal.api.history.v1.History.decode(gunzipSync(readFileSync(path.join(DIRECTORY, name)))),
  }));
}

/** The recorded runs that workflow code can no longer follow, each with the reason. */
async function replay(workflowCode: string, histories: readonly Recorded[]): Promise<string[]> {
  const named = histories.map(({ name, history }) => ({ workflowId: name, history }));
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
function shifted({ name, history }: Recorded, years: number): Recorded {
  for (const { eventTime } of history.events) {
    if (eventTime?.seconds) eventTime.seconds = eventTime.seconds.add(years * YEAR_S);
  }
  return { name, history };
}

function changed(from: string, to: string): string {
  expect(code.split(from)).toHaveLength(2);
  return code.replace(from, () => to);
}

test('every recorded run can be followed by the workflow code of today', PATIENT, async () => {
  expect(await replay(code, readHistories())).toEqual([]);
});

test.each([-10, 10])('a clock that is %d years off changes no decision', PATIENT, async (years) => {
  expect(
    await replay(
      code,
      readHistories().map((recorded) => shifted(recorded, years)),
    ),
  ).toEqual([]);
});

test('a decision by a clock that the sandbox does not control is caught', async () => {
  const unpatched = 'Temporal.Now.instant().epochMilliseconds - Date.now() > 5 * 365 * 86_400_000';
  const planted = changed('return info.continueAsNewSuggested ||', `return ${unpatched} ||`);
  expect(await replay(planted, readHistories('happy-path.'))).toEqual([]);
  const past = readHistories('happy-path.').map((recorded) => shifted(recorded, -10));
  expect(await replay(planted, past)).toHaveLength(past.length);
});

test.each([
  ['left out', 'await run.plan();', ''],
  ['moved', 'const verdict = await run.admit();', 'await run.plan(); const verdict = await run.admit();'],
])('a step that was %s without a patch is caught', async (_what, from, to) => {
  const [broken, ...others] = await replay(changed(from, to), readHistories('happy-path.batch-job'));
  expect(broken).toMatch(/Nondeterminism/);
  expect(others).toEqual([]);
});

test('each scenario is recorded, each workflow type appears, and all of it stays small', async () => {
  const names = readdirSync(DIRECTORY);
  expect(
    SCENARIOS.map(({ name }) => name).filter((name) => !names.some((file) => file.startsWith(`${name}.`))),
  ).toEqual([]);
  const types = readHistories().map(
    ({ history }) => history.events[0]?.workflowExecutionStartedEventAttributes?.workflowType?.name,
  );
  expect([...new Set(types)].toSorted()).toEqual(Object.keys(await import('../../workflows/index.ts')).toSorted());
  const bytes = names.reduce((sum, name) => sum + readFileSync(path.join(DIRECTORY, name)).byteLength, 0);
  expect(bytes).toBeLessThan(MAX_BYTES);
});

test('no history names the machine it was recorded on', () => {
  const identities = new Set<string>();
  const traces: string[] = [];
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return;
    for (const [key, child] of Object.entries(value)) {
      if (key === 'identity') identities.add(String(child));
      else if (key === 'stackTrace' && child !== '') traces.push(String(child));
      else walk(child);
    }
  };
  for (const { history } of readHistories()) walk(history.events);
  expect([...identities].toSorted()).toEqual(['history-service', 'recorder']);
  expect(traces).toEqual([]);
});
