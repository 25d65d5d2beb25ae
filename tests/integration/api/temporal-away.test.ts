import { createServer } from 'node:net';
import { Client } from '@temporalio/client';
import { expect, test } from 'vitest';
import { createJobWorkflows } from '../../../api/temporal.ts';
import { openTemporal } from '../../../api/temporal-connection.ts';

/** A port that refuses: taken once, and given back. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  const address = server.address();
  await new Promise((closed) => server.close(closed));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

// Left to the exit of the process, as in the api: closed under a call that nobody waits for any more, it would throw.
const connection = openTemporal({ address: `127.0.0.1:${await closedPort()}` });
const workflows = createJobWorkflows(new Client({ connection }));

const JOB = {
  jobId: 'job_00000000000000000000000000',
  submissionNo: 1,
  tenantId: `tenant_${'x'.repeat(100)}`,
  customerId: null,
  model: 'openai/gpt-4o-mini',
  itemCount: 1,
  submittedAt: null,
};

async function timed<Result>(call: Promise<Result>): Promise<{ result: Result; ms: number }> {
  const startedAt = performance.now();
  const result = await call;
  return { result, ms: performance.now() - startedAt };
}

test.each([0, 500, 20_000])('a submit that would wait %i ms says soon that nothing was reached', async (waitMs) => {
  const { result, ms } = await timed(workflows.submit(JOB, waitMs));
  expect(result).toEqual({ kind: 'unreachable' });
  expect(ms).toBeLessThan(6_000);
});

test('signals, queries and probes give up in time and throw nothing', async () => {
  const answers = await timed(
    Promise.all([
      workflows.signalCancel(JOB.jobId, { by: 'key_x', reason: null }),
      workflows.pollNow(JOB.jobId, [1]),
      workflows.pollShard(JOB.jobId, 1),
      workflows.queryState(JOB.jobId),
      workflows.isReachable(),
    ]),
  );
  expect(answers.result).toEqual(['unreachable', 'unreachable', 'unreachable', null, false]);
  expect(answers.ms).toBeLessThan(5_000);
});
