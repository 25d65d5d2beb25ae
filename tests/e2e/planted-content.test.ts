import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createKey } from '../../db/api-keys.ts';
import { eventually } from '../harness/eventually.ts';
import { Caller, startGateway, type TestGateway } from '../harness/gateway.ts';
import { formsOf, readRawHistories, tablesWith } from '../harness/planted-secrets.ts';
import { type GatewayProcess, GatewayStack } from '../harness/stack.ts';
import { startReceiver, type WebhookReceiver } from '../harness/webhook-receiver.ts';

const STORAGES = ['normalized', 'pointers', 'hashes'] as const;
type Storage = (typeof STORAGES)[number];

/** Words that stand in the requests and in the replies of a storage's job, and in no other. */
const plant = (storage: Storage) => ({ asked: word(`asked-${storage}`), replied: word(`replied-${storage}`) });
const CONTENT = { normalized: plant('normalized'), pointers: plant('pointers'), hashes: plant('hashes') };
/** The same of a single task. */
const TASK = { asked: word('asked-task'), replied: word('replied-task') };
/** The same of documents: words of their text that are in no row, of their rows, and of the names of their files. */
const DOCUMENT = Object.fromEntries(
  STORAGES.map((storage) => [storage, { text: word('text'), row: word('row'), name: word('name') }]),
) as Record<Storage, Record<'text' | 'row' | 'name', string>>;
/** Stands in calls that are refused. */
const REFUSED = word('refused');

/** Where what is planted may be once all jobs ended: a rule for each, and for nothing anywhere else. */
const MAY_BE_IN: { readonly [storage in Storage]: readonly string[] } = {
  normalized: ['item_requests', 'item_results'],
  pointers: [],
  hashes: [],
};

/** The same of documents, whose files lie in the artifact store besides. */
const DOCUMENT_MAY_BE_IN: typeof MAY_BE_IN = {
  normalized: ['document_rows', 'documents', 'item_requests', 'item_results'],
  pointers: [],
  hashes: [],
};

let gateway: TestGateway;
let stack: GatewayStack;
let receiver: WebhookReceiver;
let spool: string;
let artifacts: string;
let api: GatewayProcess;
let worker: GatewayProcess;
beforeAll(async () => {
  spool = await mkdtemp(join(tmpdir(), 'batchgate-planted-'));
  artifacts = await mkdtemp(join(tmpdir(), 'batchgate-planted-'));
  [gateway, receiver] = await Promise.all([startGateway({ workers: false }), startReceiver()]);
  stack = GatewayStack.of(gateway, {
    BATCHGATE_ALLOWED_FETCH_HOSTS: '127.0.0.1',
    BATCHGATE_LOG_LEVEL: 'trace',
    BATCHGATE_SPOOL_DIR: spool,
    BATCHGATE_ARTIFACT_STORE: `file://${artifacts}`,
  });
  [api, worker] = await Promise.all([stack.startApi(), stack.startWorker()]);
});
afterAll(async () => {
  await stack.stop();
  await Promise.all([gateway.stop(), receiver.close()]);
  for (const folder of [spool, artifacts]) await rm(folder, { recursive: true, force: true });
});

function word(name: string): string {
  return `planted-${name}-${randomBytes(8).toString('hex')}`;
}

/** Runs a job that completes in part to its end, and until nothing of it is left to be deleted. */
async function runJob(caller: Caller, storage: Storage): Promise<string> {
  const { asked, replied } = CONTENT[storage];
  const prompts = [1, 2, 3].map((no) => `${asked} ${no} [[sim:text=${replied} ${no}]]`);
  const jobId = await caller.submitPrompts([...prompts, `${asked} [[sim:error=server_error]]`], { storage });
  await caller.ended(jobId, 60_000);
  const path = `/v1/batch-jobs/${jobId}/storage`;
  if (storage !== 'normalized') {
    await eventually(async () => {
      const { request_body_deleted_at: deletedAt } = await caller.call<Record<string, unknown>>('GET', path);
      return deletedAt !== null;
    });
  }
  return jobId;
}

/** Runs a task, of a tenant of its own, until its webhook was called. Answers what that was told. */
async function runTask(): Promise<string> {
  const { caller } = await gateway.newTenant();
  const tenant = new Caller(api.url, caller.key);
  await tenant.call('POST', '/v1/webhooks/job-secret/rotate', {});
  const hook = await startReceiver();
  try {
    const payload = { prompt: `${TASK.asked} [[sim:text=${TASK.replied}]]` };
    await tenant.call('POST', '/v1/async/task', { taskType: 'OPENAI', payload, webhookUrl: hook.url });
    await eventually(() => hook.calls.length > 0);
    return Buffer.concat(hook.calls.map(({ bytes }) => bytes)).toString();
  } finally {
    await hook.close();
  }
}

/**
 * Runs over documents of a tenant of its own, in both modes, each of which is answered a second time only as its columns want it.
 * Answers what told of their end.
 */
async function runDocuments(storage: Storage): Promise<string> {
  const { tenantId, caller } = await gateway.newTenant();
  await gateway.database.db.pool.query('UPDATE tenants SET policy = $2 WHERE tenant_id = $1', [tenantId, { storage }]);
  const tenant = new Caller(api.url, caller.key);
  const { text, row, name } = DOCUMENT[storage];
  const hook = await startReceiver();
  try {
    await tenant.call('POST', '/v1/webhooks', { url: hook.url });
    for (const mode of ['direct', 'batch']) {
      const content = `Vendor: ${row}\n${text} ${mode} [[sim:rows=wrong_type]][[sim:once]]`;
      const uploaded = await upload(tenant, { batch: mode, content, name: `${name}.txt` });
      expect(uploaded).toMatchObject({ file_name: `${name}.txt` });
      await tenant.call('POST', `/v1/batches/${mode}/process`, { columns: [{ name: 'vendor' }], mode });
    }
    await eventually(() => hook.calls.length >= 2, { timeoutMs: 60_000 });
    for (const mode of ['direct', 'batch'])
      expect(await tenant.call('GET', `/v1/batches/${mode}/results`)).toMatchObject({
        documents: [{ file_name: `${name}.txt`, status: 'succeeded', line_items: [{ vendor: row }] }],
      });
    return Buffer.concat(hook.calls.map(({ bytes }) => bytes)).toString();
  } finally {
    await hook.close();
  }
}

async function upload(
  tenant: Caller,
  { batch, content, name }: { readonly batch: string; readonly content: string; readonly name: string },
): Promise<unknown> {
  const form = new FormData();
  form.append('batch_name', batch);
  form.append('file', new Blob([content]), name);
  const headers = { 'idempotency-key': `upload-${batch}` };
  return (await tenant.fetch('/v1/documents', { method: 'POST', body: form, headers })).json();
}

/** What is answered to calls that have content in them and are refused. */
async function refusals(caller: Caller): Promise<string> {
  const items = `/v1/batch-jobs/${await caller.createJob()}/items`;
  const manifest = items.replace('items', 'manifest');
  const request = { messages: [{ role: 'user', content: REFUSED }], stream: REFUSED, [`x-${REFUSED}`]: 1 };
  const lines = { 'content-type': 'application/x-ndjson' };
  const form = new FormData();
  form.append('batch_name', 'refused');
  form.append('file', new Blob([`%PDF-1.7 ${REFUSED}`]), `${REFUSED}.pdf`);
  const columns = [{ name: 'a', type: REFUSED }];
  const answers = await Promise.all([
    caller.fetch(items, { method: 'POST', json: { items: [{ request }] } }),
    caller.fetch(items, { method: 'POST', json: { items: [{ custom_id: 'b', request, secret: REFUSED }] } }),
    caller.fetch(items, { method: 'POST', json: { items: REFUSED } }),
    caller.fetch(manifest, { method: 'PUT', headers: lines, body: `{"custom_id":"a","request":{"x":"${REFUSED}` }),
    caller.fetch(manifest, { method: 'PUT', headers: lines, body: `"${REFUSED}"\n` }),
    caller.fetch('/v1/batch-jobs', { method: 'POST', json: { endpoint: 'chat.completions', model: [REFUSED] } }),
    caller.fetch('/v1/documents', { method: 'POST', body: form }),
    caller.fetch('/v1/batches/refused/process', { method: 'POST', json: { columns } }),
    caller.fetch('/v1/async/task', { method: 'POST', json: { taskType: REFUSED, payload: { prompt: REFUSED } } }),
    caller.fetch('/v1/batch-jobs', { method: 'POST', body: REFUSED, headers: { 'content-type': 'application/json' } }),
  ]);
  expect(answers.filter(({ status }) => status < 400 || status >= 500).map(({ status }) => status)).toEqual([]);
  return (await Promise.all(answers.map((answer) => answer.text()))).join('\n');
}

/** What operators' calls and the command line print that are not meant to show content. */
async function printed(tenantId: string, caller: Caller, jobs: readonly string[]): Promise<string> {
  const { key } = await createKey(gateway.database.db.pool, { role: 'gateway_admin', name: 'admin', tenantId: null });
  const environment = { BATCHGATE_URL: api.url, BATCHGATE_KEY: caller.key, BATCHGATE_ADMIN_KEY: key };
  const { runCli } = await import('../../cli/testing/run-cli.ts');
  const runs = [
    ['admin', 'audit', '--tenant', tenantId],
    ...jobs.flatMap((job) => [
      ['status', job],
      ['storage', job],
    ]),
  ];
  const out: string[] = [];
  for (const args of runs) {
    const { code, out: text, err } = await runCli(args, { environment });
    expect([code, err], args.join(' ')).toEqual([0, '']);
    out.push(text);
  }
  const operator = new Caller(api.url, key);
  for (const job of jobs) out.push(JSON.stringify(await operator.call('GET', `/v1/operator/jobs/${job}`)));
  return out.join('\n');
}

/** Tables by the name of the one they are a part of. */
async function tablesOf(words: readonly string[]): Promise<string[]> {
  const names = await tablesWith(gateway.database.db, words);
  return [...new Set(names.map((name) => name.replace(/^public\./, '').replace(/_p?\d[\d_]*$|_default$/, '')))];
}

async function readFolder(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return (await Promise.all(files.map((file) => readFile(file, 'latin1')))).join('\n');
}

test('content is where the storage policy lets it be, webhook secrets are nowhere, and neither is in what is told', async () => {
  const { tenantId, caller } = await gateway.newTenant();
  const tenant = new Caller(api.url, caller.key);
  const made = await tenant.call<{ endpoint_id: string; secret: string }>('POST', '/v1/webhooks', {
    url: receiver.url,
  });
  const rotated = await tenant.call<{ secret: string }>('POST', `/v1/webhooks/${made.endpoint_id}/rotate-secret`, {});
  const jobs = await Promise.all(STORAGES.map((storage) => runJob(tenant, storage)));
  const toldOfTask = await runTask();
  const toldOfDocuments = await Promise.all(STORAGES.map(runDocuments));
  const told = await refusals(tenant);
  await eventually(() => jobs.every((job) => receiver.calls.some(({ bytes }) => bytes.includes(job))));

  for (const storage of STORAGES) {
    expect(await tablesOf(Object.values(CONTENT[storage])), storage).toEqual(MAY_BE_IN[storage]);
  }
  expect(toldOfTask).toContain(TASK.replied);
  expect(await tablesOf(Object.values(TASK)), 'a task').toEqual(['item_requests', 'item_results']);
  for (const storage of STORAGES) {
    const where = () => tablesOf(Object.values(DOCUMENT[storage]));
    const wanted = DOCUMENT_MAY_BE_IN[storage];
    // What was sent goes soon after the end.
    await eventually(async () => (await where()).length <= wanted.length).catch(() => undefined);
    expect(await where(), `documents, ${storage}`).toEqual(wanted);
  }
  const secrets = [made.secret, rotated.secret].flatMap((secret) => [secret, secret.replace(/^whsec_/, '')]);
  expect(await tablesOf([...secrets, REFUSED])).toEqual([]);

  const ofDocuments = STORAGES.flatMap((storage) => Object.values(DOCUMENT[storage]));
  const content = [...STORAGES.flatMap((storage) => Object.values(CONTENT[storage])), ...Object.values(TASK)];
  const files = await readFolder(artifacts);
  const places = {
    ...Object.fromEntries(await readRawHistories(gateway.client)),
    'the log of the api': await api.log(),
    'the log of the worker': await worker.log(),
    'the spool': await readFolder(spool),
    'the artifacts': files.replaceAll(DOCUMENT.normalized.text, '').replaceAll(DOCUMENT.normalized.row, ''),
    'what was refused': told,
    'what was printed': await printed(tenantId, tenant, jobs),
    webhooks: Buffer.concat(receiver.calls.map(({ bytes }) => bytes)),
    'webhooks of documents': toldOfDocuments.join('\n'),
  };
  const forms = [...secrets, REFUSED, ...content, ...ofDocuments].flatMap(formsOf);
  const found = Object.entries(places).filter(([, text]) => forms.some((form) => text.includes(form)));
  expect(found.map(([place]) => place)).toEqual([]);
  // The search finds what is there.
  expect(files).toContain(DOCUMENT.normalized.text);
  for (const place of ['the log of the worker', 'what was printed', 'webhooks'] as const)
    expect(places[place].includes(jobs[0] ?? ''), place).toBe(true);
});
