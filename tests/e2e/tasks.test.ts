import { afterAll, beforeAll, expect, test } from 'vitest';
import { asyncTaskWorkflowId } from '../../workflows/ids.ts';
import { eventually } from '../harness/eventually.ts';
import { type Caller, startGateway, type TestGateway } from '../harness/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

interface TaskAnswer {
  id: string;
  status: string;
  attempts: number;
  response: { text: string } | null;
  error: { code: string } | null;
  history?: { status: string; attempt: number; code: string | null }[];
}

async function create(caller: Caller, prompt: string): Promise<string> {
  const payload = { prompt, model: 'gpt-4o-mini', maxTokens: 20 };
  return (await caller.call<TaskAnswer>('POST', '/v1/async/task', { taskType: 'OPENAI', payload })).id;
}

function ended(caller: Caller, id: string): Promise<TaskAnswer> {
  const path = `/v1/async/task/${id}?include=history`;
  return eventually(
    async () => {
      const task = await caller.call<TaskAnswer>('GET', path);
      return ['COMPLETED', 'FAILED'].includes(task.status) ? task : null;
    },
    { timeoutMs: 60_000 },
  );
}

const statesOf = ({ history = [] }: TaskAnswer) =>
  history.map(({ status, code }) => (code === null ? status : `${status} ${code}`));

test('a task runs from its post to its answer, a failure for the moment is tried again, and one for good is not', async () => {
  const { caller } = await gateway.newTenant();
  const [answered, retried, refused] = await Promise.all([
    create(caller, '[[sim:text=forty-two]]'),
    create(caller, '[[sim:error=rate_limit]][[sim:once]] tried again'),
    create(caller, '[[sim:invalid]]'),
  ]);
  expect(await ended(caller, answered)).toMatchObject({
    status: 'COMPLETED',
    response: { text: 'forty-two' },
    attempts: 1,
  });
  const again = await ended(caller, retried);
  expect(again).toMatchObject({ status: 'COMPLETED', attempts: 2 });
  expect(statesOf(again)).toEqual(['QUEUED', 'PROCESSING', 'QUEUED RATE_LIMITED', 'PROCESSING', 'COMPLETED']);
  expect(await ended(caller, refused)).toMatchObject({
    status: 'FAILED',
    attempts: 1,
    error: { code: 'INVALID_REQUEST' },
  });
  const { status } = await gateway.client.workflow.getHandle(asyncTaskWorkflowId(refused)).describe();
  expect(status.name).toBe('COMPLETED');
  const { held } = await caller.budget();
  expect(Number(held)).toBe(0);
});

test('workers that stop while they wait for an answer give the task back, and others bring it to its end', async () => {
  const { caller } = await gateway.newTenant();
  const asked = async () => (await gateway.simulator.journal({ route: 'chat.completions.create' })).length;
  const before = await asked();
  await gateway.simulator.settings({ openai: { replyLatencyMs: 3_600_000 } });
  const id = await create(caller, 'slow');
  await eventually(async () => (await caller.call<TaskAnswer>('GET', `/v1/async/task/${id}`)).status === 'PROCESSING');
  await eventually(async () => (await asked()) > before);
  await gateway.simulator.settings({ openai: { replyLatencyMs: 0 } });
  await gateway.restartWorkers();
  const task = await ended(caller, id);
  expect(statesOf(task)).toEqual(['QUEUED', 'PROCESSING', 'QUEUED WORKER_STOPPED', 'PROCESSING', 'COMPLETED']);
});
