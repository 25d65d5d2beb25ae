import type { DocumentRunStep } from '../../activities/interfaces.ts';
import { runChangedSignal } from '../../workflows/messages.ts';
import { documentRunStart } from '../../workflows/start-options.ts';
import { eventually } from '../harness/eventually.ts';
import type { FakeEngine } from '../workflows/fake-engine.ts';
import { AGAIN, type RunScript } from '../workflows/fake-runs.ts';
import type { Scenario } from './scenario.ts';

const WAIT: DocumentRunStep = { kind: 'wait', delayMs: 3_600_000 };
const WRITE: DocumentRunStep = { kind: 'write', provider: 'openai' };
const attempt = (lanes: number): DocumentRunStep => ({ kind: 'attempt', lanes, provider: 'openai' });

type Handle = ReturnType<FakeEngine['client']['workflow']['getHandle']>;

/** One run over documents, by what its rows say. */
function run(
  name: string,
  script: RunScript,
  meanwhile: (handle: Handle, reviews: () => number) => Promise<unknown> = async () => undefined,
  maxHistoryEvents = 400,
): Scenario {
  return {
    name,
    play: async (engine) => {
      const runId = `run_${name}`;
      engine.runs.add(runId, script);
      const of = {
        runId,
        tenantId: 'acme',
        customerId: null,
        model: 'analysis',
        mode: 'direct' as const,
        documents: 3,
      };
      const start = documentRunStart(of);
      const args = [{ ...start.args[0], maxHistoryEvents }];
      await engine.client.workflow.start('documentRun', { ...start, args });
      const handle = engine.client.workflow.getHandle(start.workflowId);
      await meanwhile(handle, () => engine.runs.callsOf(runId).reviews.length);
      await handle.result();
      return [start.workflowId];
    },
  };
}

export const DOCUMENT_SCENARIOS: readonly Scenario[] = [
  run('run-direct', { reviews: [attempt(2)], attempts: [AGAIN, { kind: 'wait', delayMs: 20 }, AGAIN] }),
  run(
    'run-in-batch-mode',
    { reviews: [WRITE, WRITE, WAIT, attempt(1)], attempts: [AGAIN] },
    async (handle, reviews) => {
      await eventually(() => reviews() === 3);
      await handle.signal(runChangedSignal);
    },
  ),
  run('run-cancelled-by-temporal', { reviews: [WAIT] }, async (handle, reviews) => {
    await eventually(() => reviews() === 1);
    await handle.cancel();
  }),
  run(
    'run-of-many-documents',
    { reviews: Array(4).fill(attempt(2)), attempts: Array(16).fill(AGAIN) },
    async () => undefined,
    20,
  ),
];
