import { afterAll, beforeEach, expect, test } from 'vitest';
import type { Database } from '../../../db/client.ts';
import { fixedAdapters } from '../../../providers/provider-adapters.ts';
import { type ApiCaller, createTestApi } from '../../harness/api.ts';
import { refusal } from '../../harness/fake-provider.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { ReplyProvider, replyLine } from '../../harness/reply-provider.ts';
import { type EndedJob, endJob } from './ended-job.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);

const DAY_MS = 24 * 3_600_000;

let provider: ReplyProvider;
let now: Date;
beforeEach(() => {
  provider = new ReplyProvider();
  now = new Date();
});

async function reader(of: Database, { tenantId }: EndedJob): Promise<ApiCaller> {
  const providers = fixedAdapters(new Map([['openai', provider]]));
  return createTestApi(of, { providers, now: () => now }).caller('tenant_admin', { tenantId });
}

const path = ({ jobId }: EndedJob, rest: string) => `/v1/batch-jobs/${jobId}${rest}`;
const NDJSON = { accept: 'application/x-ndjson' };

/** What a row says apart from ids, times and where it was read. */
function plain(row: Record<string, unknown>) {
  const {
    item_id: _item,
    settled_at: _settled,
    created_at: _created,
    content: _content,
    retry_chain: _chain,
    ...rest
  } = row;
  return rest;
}

async function allReadings(job: EndedJob) {
  const caller = await reader(db, job);
  const page = await caller.get(path(job, '/results'));
  const stream = await caller.get(path(job, '/results'), NDJSON);
  const latest = await caller.get(path(job, '/results?view=latest'));
  const item = await caller.get(path(job, '/items/row_3'));
  const rows = stream.text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect([page.status, stream.status, latest.status, item.status]).toEqual([200, 200, 200, 200]);
  return {
    contents: rows.map(({ content }) => content),
    read: {
      page: page.json.data.map(plain),
      stream: rows.map(plain),
      latest: latest.json.data.map(plain),
      item: plain(item.json),
    },
  };
}

test('pointers and hashes jobs read back as a normalized one does, by every way of reading', async () => {
  const options = { items: 5, failing: [2] };
  const normalized = await allReadings(await endJob(db, provider, 'normalized', options));
  expect(normalized.contents).toEqual(['stored', 'stored', 'stored', 'stored', null]);
  expect(provider.downloads).toHaveLength(1);
  for (const storage of ['pointers', 'hashes'] as const) {
    const job = await endJob(db, provider, storage, options);
    const there = await allReadings(job);
    expect(there.contents).toEqual(['at_provider', 'at_provider', 'at_provider', 'at_provider', null]);
    expect(there.read).toEqual(normalized.read);
  }
});

test('a page and a stream read a file once each', async () => {
  const job = await endJob(db, provider, 'pointers', { items: 60 });
  const caller = await reader(db, job);
  provider.downloads.length = 0;
  const page = await caller.get(path(job, '/results?limit=50'));
  expect(page.json.data).toHaveLength(50);
  expect(provider.downloads).toHaveLength(1);
  const rest = await caller.get(path(job, `/results?limit=50&cursor=${page.json.next_cursor}`));
  expect(rest.json.data).toHaveLength(10);
  expect(provider.downloads).toHaveLength(2);
  const stream = await caller.get(path(job, '/results'), NDJSON);
  expect(stream.text.trimEnd().split('\n')).toHaveLength(60);
  expect(provider.downloads).toHaveLength(3);
});

test('hashes are read for a window after the end, and then are all there is', async () => {
  const job = await endJob(db, provider, 'hashes');
  const caller = await reader(db, job);
  now = new Date(Date.now() + DAY_MS - 60_000);
  expect((await caller.get(path(job, '/results'))).json.data[0]).toMatchObject({ content: 'at_provider' });
  now = new Date(Date.now() + DAY_MS + 60_000);
  provider.downloads.length = 0;
  const { json } = await caller.get(path(job, '/results'));
  expect(json.data).toHaveLength(3);
  for (const row of json.data) {
    expect(row).toMatchObject({
      content: 'not_stored',
      result: null,
      response_hash: expect.stringMatching(/^sha256:/),
    });
  }
  expect((await caller.get(path(job, '/items/row_1'))).json).toMatchObject({ content: 'not_stored', result: null });
  expect(provider.downloads).toEqual([]);
});

test('pointers are read until the provider forgets, and then say so', async () => {
  const job = await endJob(db, provider, 'pointers');
  const caller = await reader(db, job);
  const status = await caller.get(path(job, ''));
  const deadline = Date.parse(status.json.retrieval_deadline);
  now = new Date(deadline - 1_000);
  expect((await caller.get(path(job, '/items/row_1'))).status).toBe(200);
  now = new Date(deadline);
  const { json } = await caller.get(path(job, '/results'));
  expect(json.data[0]).toMatchObject({ content: 'expired', result: null, response_hash: expect.any(String) });
  const item = await caller.get(path(job, '/items/row_1'));
  expect(item).toMatchObject({ status: 410, json: { error: 'content_expired' } });
});

test('a reply that is gone or is another one is told as such, and never shown', async () => {
  const job = await endJob(db, provider, 'pointers', { items: 3 });
  const caller = await reader(db, job);
  const [first = '', , third = ''] = provider.results.get(job.batchId) ?? [];
  const altered = replyLine({ ...JSON.parse(third), says: 'altered' });
  // The order may be another: lines are found by the id in each.
  provider.results.set(job.batchId, [altered, first]);
  const rows = (await caller.get(path(job, '/results'))).json.data;
  const byId = Object.fromEntries(rows.map((row: { custom_id: string }) => [row.custom_id, row]));
  expect(byId['row_1']).toMatchObject({ content: 'at_provider', result: expect.anything() });
  expect(byId['row_2']).toMatchObject({ content: 'lost', result: null });
  expect(byId['row_3']).toMatchObject({ content: 'changed', result: null });
  for (const customId of ['row_2', 'row_3']) {
    const item = await caller.get(path(job, `/items/${customId}`));
    expect(item).toMatchObject({ status: 410, json: { error: 'content_lost' } });
    expect(item.text).not.toContain('altered');
  }
  provider.refusal = refusal('not_found');
  expect((await caller.get(path(job, '/results'))).json.data[0]).toMatchObject({ content: 'lost' });
});

test('a line of another attempt is nobody’s', async () => {
  const job = await endJob(db, provider, 'pointers', { items: 1 });
  const lines = provider.results.get(job.batchId) ?? [];
  const foreign = lines.map((line) =>
    line.replace(
      job.token,
      job.token.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
    ),
  );
  provider.results.set(job.batchId, foreign);
  const { json } = await (await reader(db, job)).get(path(job, '/results'));
  expect(json.data[0]).toMatchObject({ content: 'lost', result: null });
});

test('a provider that is away is a 503, and a state of the row in a stream', async () => {
  const job = await endJob(db, provider, 'pointers', { items: 3, failing: [2] });
  const caller = await reader(db, job);
  provider.refusal = refusal('unavailable', 'secret words of the provider');
  const page = await caller.get(path(job, '/results'));
  expect(page).toMatchObject({ status: 503, json: { error: 'dependency_unavailable' } });
  expect(page.text).not.toContain('secret words');
  expect((await caller.get(path(job, '/items/row_1'))).status).toBe(503);
  const item = await caller.get(path(job, '/items/row_2'));
  expect(item.json).toMatchObject({ status: 'failed', content: null });
  const stream = await caller.get(path(job, '/results'), NDJSON);
  expect(stream.status).toBe(200);
  const rows = stream.text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(rows.map(({ content }) => content)).toEqual(['unavailable', 'unavailable', null]);
  provider.refusal = null;
  expect((await caller.get(path(job, '/results'))).status).toBe(200);
});

test('a deleted job of pointers answers as any deleted job does', async () => {
  const job = await endJob(db, provider, 'pointers');
  const caller = await reader(db, job);
  expect((await caller.call('DELETE', path(job, ''))).status).toBe(204);
  provider.downloads.length = 0;
  expect(await caller.get(path(job, '/results'))).toMatchObject({ status: 410, json: { error: 'content_deleted' } });
  expect((await caller.get(path(job, '/items/row_1'))).json).toMatchObject({ content: 'deleted', result: null });
  expect(provider.downloads).toEqual([]);
});

test('the storage of a job says what is kept where and until when, without ids of the provider', async () => {
  const job = await endJob(db, provider, 'hashes', { items: 3, failing: [2] });
  const caller = await reader(db, job);
  const { status, json, text } = await caller.get(path(job, '/storage'));
  const { json: shown } = await caller.get(path(job, ''));
  expect(status).toBe(200);
  expect(json).toEqual({
    job_id: job.jobId,
    storage: 'hashes',
    kept: [
      { kind: 'requests', held_by: 'gateway', until: shown.completed_at, deleted_at: expect.any(String) },
      { kind: 'results', held_by: 'openai', until: shown.retrieval_deadline, deleted_at: null },
      { kind: 'provider_files', held_by: 'openai', until: shown.retrieval_deadline, deleted_at: null },
    ],
    raw_input_stored: false,
    raw_output_stored: false,
    artifact_location: null,
    raw_output_note: 'policy',
    results_readable_until: new Date(Date.parse(shown.completed_at) + DAY_MS).toISOString(),
    provider_retrieval_deadline: expect.any(String),
    gateway_deletion_deadline: null,
    request_body_deleted_at: expect.any(String),
    content_deleted_at: null,
    provider_files_deleted_at: null,
    hashes: { requests: 3, responses: 3 },
  });
  expect(text).not.toContain(job.batchId);
  expect(text).not.toContain('file-');
  expect((await (await reader(db, await endJob(db, provider, 'raw'))).get(path(job, '/storage'))).status).toBe(404);
});

test('exports say what is kept, and the hashes of each item', async () => {
  const job = await endJob(db, provider, 'pointers', { items: 1 });
  const caller = await reader(db, job);
  const kept = { storage: 'pointers', raw_input_stored: false, raw_output_stored: false, artifact_location: null };
  const { json: items } = await caller.get(path(job, '/usage?level=item'));
  expect(items.data[0]).toMatchObject({
    ...kept,
    request_hash: expect.stringMatching(/^sha256:/),
    response_hash: expect.stringMatching(/^sha256:/),
  });
  const { json: jobs } = await caller.get(path(job, '/usage'));
  expect(jobs.data[0]).toMatchObject({ ...kept, request_body_deleted_at: expect.any(String) });
});
