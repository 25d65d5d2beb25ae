import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { leaveReadyFile } from '../local/ready-file.ts';
import { type FakeGateway, startFakeGateway } from './testing/fake-gateway.ts';
import { fakeReady } from './testing/fake-ready.ts';
import { runCli } from './testing/run-cli.ts';

let gateway: FakeGateway;
let data: string;
beforeEach(async () => {
  gateway = await startFakeGateway();
  data = mkdtempSync(join(tmpdir(), 'batchgate-connection-'));
});
afterEach(async () => {
  await gateway.close();
  rmSync(data, { recursive: true });
});

function leaveStack(url = gateway.url): void {
  leaveReadyFile(data, fakeReady(url));
}

test('uses the local stack of the data folder without any setting', async () => {
  leaveStack();
  expect((await runCli(['budgets', '--data', data])).code).toBe(0);
  expect((await runCli(['ledger', 'verify', '--data', data])).code).toBe(0);
  expect(gateway.keys).toEqual(['stack-tenant', 'stack-operator']);
});

test('what is said comes before the environment, and both before the stack', async () => {
  leaveStack('http://127.0.0.1:9');
  const environment = {
    BATCHGATE_URL: gateway.url,
    BATCHGATE_KEY: 'env-tenant',
    BATCHGATE_OPERATOR_KEY: 'env-operator',
  };
  await runCli(['budgets', '--data', data], { environment });
  await runCli(['budgets', '--data', data, '--key', 'said'], { environment });
  await runCli(['ledger', 'verify', '--data', data], { environment });
  await runCli(['ledger', 'verify', '--data', data, '--operator-key', 'said-operator'], { environment });
  await runCli(['budgets', '--data', data, '--url', gateway.url, '--key', 'k'], { environment: {} });
  expect(gateway.keys).toEqual(['env-tenant', 'said', 'env-operator', 'said-operator', 'k']);
});

test("never sends the stack's key elsewhere", async () => {
  leaveStack('http://127.0.0.1:9');
  const { code, err } = await runCli(['budgets', '--data', data, '--url', gateway.url]);
  expect(code).toBe(2);
  expect(err).toBe('error: The key of a tenant is needed: give --key or BATCHGATE_KEY.\n');
  expect(gateway.calls).toEqual([]);
});

test('says how to get a gateway where there is none', async () => {
  const { code, err } = await runCli(['budgets', '--data', data]);
  expect(code).toBe(2);
  expect(err).toContain('start one with "batchgate up", or give --url or BATCHGATE_URL');
});

test('says how to start a stack that no longer answers', async () => {
  leaveStack('http://127.0.0.1:9');
  const { code, err } = await runCli(['budgets', '--data', data]);
  expect(code).toBe(4);
  expect(err).toContain('Start the local stack with "batchgate up".');
});
