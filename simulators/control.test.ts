import { expect, onTestFinished, test } from 'vitest';
import { createControl } from './control-client.ts';
import type { Fault } from './faults.ts';
import { startSimulators } from './start.ts';

async function start() {
  const simulators = await startSimulators();
  onTestFinished(() => simulators.close());
  const control = createControl(simulators.controlUrl);
  const call = (path: string) =>
    fetch(`${simulators.openaiUrl}${path}`, { headers: { authorization: 'Bearer sk-test-wxyz' } });
  return { control, call };
}

test('moves the clock', async () => {
  const { control } = await start();
  const before = await control.clock();
  const after = await control.advance(3_600_000);
  expect(after.now_ms - before.now_ms).toBeGreaterThanOrEqual(3_600_000);
  expect(await control.setSpeed(60)).toMatchObject({ speed: 60 });
});

test('keeps a journal of calls, filtered by route and provider', async () => {
  const { control, call } = await start();
  await call('/files?purpose=batch');
  await call('/batches/batch_none');
  const [list, retrieve] = await control.journal({ provider: 'openai' });
  expect(list).toMatchObject({
    seq: 1,
    route: 'files.list',
    method: 'GET',
    path: '/v1/files',
    status: 200,
    ended_at: expect.any(Number),
    facts: { purpose: 'batch', credential: '...wxyz' },
  });
  expect(retrieve).toMatchObject({ seq: 2, route: 'batches.retrieve', status: 404, facts: { batch_id: 'batch_none' } });
  expect(await control.journal({ route: 'files.list' })).toHaveLength(1);
  expect(await control.journal({ provider: 'gemini' })).toEqual([]);
  await control.clearJournal();
  expect(await control.journal()).toEqual([]);
});

test('takes faults, shows what is left of them and forgets them', async () => {
  const { control, call } = await start();
  await control.faults({ provider: 'openai', route: 'files.list', times: 2, action: { status: 418 } });
  expect((await call('/files')).status).toBe(418);
  expect(await control.remainingFaults()).toMatchObject([{ route: 'files.list', times: 2, fired: 1 }]);
  await control.clearFaults();
  expect((await call('/files')).status).toBe(200);
});

test.for([
  { fault: { provider: 'nobody', route: '*', action: { status: 500 } }, problem: 'no such provider' },
  { fault: { provider: 'openai', route: 'files.lst', action: { status: 500 } }, problem: 'no route files.lst' },
  { fault: { provider: 'openai', route: 'files.list', action: { crlf: true } }, problem: 'does not know crlf' },
  { fault: { provider: 'openai', route: '*', action: { stuck: { state: 'validating' } } }, problem: 'does not know' },
  { fault: { provider: 'openai', route: 'files.list', action: { sttus: 500 } }, problem: 'sttus' },
  { fault: { provider: 'openai', route: 'files.list', times: 0, action: {} }, problem: 'times' },
])('refuses a fault that could do nothing: $problem', async ({ fault, problem }) => {
  const { control } = await start();
  await expect(control.faults(fault as Fault)).rejects.toThrow(problem);
  expect(await control.remainingFaults()).toEqual([]);
});

test('changes the settings given and no others, and refuses unknown ones', async () => {
  const { control } = await start();
  expect(await control.settings({ openai: { inProgressMs: 5, maxLines: 7 } })).toMatchObject({
    openai: { inProgressMs: 5, maxLines: 7, validatingMs: 300 },
  });
  expect(await control.settings({ openai: { maxLines: 8 } })).toMatchObject({
    openai: { inProgressMs: 5, maxLines: 8 },
  });
  await expect(control.settings({ openai: { maxLine: 7 } })).rejects.toThrow('maxLine');
  await expect(control.settings({ nobody: {} })).rejects.toThrow('nobody');
});

test('refuses a change of a batch that it does not understand', async () => {
  const { control } = await start();
  await expect(control.batch('batch_1', JSON.parse('{"end":1}'))).rejects.toThrow('400');
});
