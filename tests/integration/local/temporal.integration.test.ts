import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { defineSearchAttributeKey } from '@temporalio/common';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { choosePort } from '../../../local/ports.ts';
import { identify, sendSignal } from '../../../local/running-process.ts';
import { type RunningTemporal, startTemporal } from '../../../local/temporal.ts';
import { findTemporal } from '../../../local/temporal-binary.ts';
import { defaultCacheDirectory } from '../../../local/temporal-search.ts';
import { waitUntil } from '../../../local/wait-until.ts';

let executable: string;
let dataDirectory: string;
let running: RunningTemporal[];
let connections: Connection[];
let said: string[];

beforeAll(async () => {
  const environment = { ...process.env, TEMPORAL_ADDRESS: undefined };
  const cacheDirectory = defaultCacheDirectory(environment, homedir());
  const found = await findTemporal({ environment, cacheDirectory, onProgress: () => undefined });
  if (found.kind !== 'executable') throw new Error('no executable');
  executable = found.path;
}, 120_000);

beforeEach(() => {
  dataDirectory = mkdtempSync(join(tmpdir(), 'batchgate-temporal-'));
  mkdirSync(join(dataDirectory, 'logs'));
  running = [];
  connections = [];
  said = [];
});
afterEach(async () => {
  await Promise.all(connections.map((connection) => connection.close()));
  await Promise.all(running.map((temporal) => temporal.stop()));
  rmSync(dataDirectory, { recursive: true });
});

async function start(ephemeral = false): Promise<RunningTemporal> {
  const [port, uiPort] = [await choosePort(0), await choosePort(0)];
  const searchAttributes = { TenantId: 'Keyword', ItemCount: 'Int' };
  const log = (line: string) => said.push(line);
  const temporal = await startTemporal({ executable, dataDirectory, ephemeral, port, uiPort, searchAttributes, log });
  running.push(temporal);
  return temporal;
}

async function clientOf({ address, namespace }: RunningTemporal): Promise<Client> {
  const connection = await Connection.connect({ address });
  connections.push(connection);
  return new Client({ connection, namespace });
}

const TENANT = defineSearchAttributeKey('TenantId', 'KEYWORD');

async function startWorkflow(client: Client, workflowId: string): Promise<void> {
  await client.workflow.start('batchJob', {
    workflowId,
    taskQueue: 'nobody',
    args: [],
    typedSearchAttributes: [{ key: TENANT, value: 'acme' }],
  });
}

function listed(client: Client, workflowId: string): Promise<void> {
  return waitUntil(async () => {
    const found = [];
    for await (const workflow of client.workflow.list({ query: "TenantId = 'acme' AND ItemCount IS NULL" }))
      found.push(workflow.workflowId);
    return found.includes(workflowId);
  }, AbortSignal.timeout(10_000));
}

test('starts with its Web UI, our search attributes and 30 days of retention, and stops without a trace', async () => {
  const temporal = await start(true);
  const client = await clientOf(temporal);
  await startWorkflow(client, 'batch-job/1');
  await listed(client, 'batch-job/1');
  const { config } = await client.workflowService.describeNamespace({ namespace: temporal.namespace });
  expect(Number(config?.workflowExecutionRetentionTtl?.seconds)).toBe(30 * 24 * 3600);
  expect((await fetch(temporal.uiUrl)).status).toBe(200);
  const pid = temporal.pid() ?? 0;
  await temporal.stop();
  expect(await identify(pid)).toBeUndefined();
});

test('keeps its workflows over a kill and over a restart of the stack', async () => {
  const first = await start();
  const client = await clientOf(first);
  await startWorkflow(client, 'batch-job/2');
  const killed = first.pid();
  sendSignal(killed ?? 0, 'SIGKILL');
  await waitUntil(async () => ![undefined, killed].includes(first.pid()), AbortSignal.timeout(15_000));
  await listed(await clientOf(first), 'batch-job/2');
  expect(said).toEqual([
    expect.stringMatching(/^temporal ended unexpectedly \(signal SIGKILL\)/),
    'temporal is running again',
  ]);
  await first.stop();
  await listed(await clientOf(await start()), 'batch-job/2');
});

test('says in one line why it does not start', async () => {
  const [port, uiPort] = [await choosePort(0), await choosePort(0)];
  const options = { executable, dataDirectory, ephemeral: true, port, uiPort, log: () => undefined };
  await expect(startTemporal({ ...options, searchAttributes: { TenantId: 'Nonsense' } })).rejects.toThrow(
    /^temporal did not start: it ended with exit code 1; the end of .*temporal\.log: .*Nonsense/,
  );
});
