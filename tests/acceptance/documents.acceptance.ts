import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import readSheet from 'read-excel-file/node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createFolderStore } from '../../artifacts/folder-store.ts';
import { type Holding, lawHolds } from '../../domain/ledger-entry.ts';
import { parseNumeric } from '../../domain/money.ts';
import { verifyLedger } from '../../ledger/verify.ts';
import { eventually } from '../harness/eventually.ts';
import { type Caller, startGateway, type TestGateway } from '../harness/gateway.ts';
import { MIXED_COLUMNS, type MixedFile, mixedDocuments } from '../harness/mixed-documents.ts';
import { isSignedWith, startReceiver, type WebhookReceiver } from '../harness/webhook-receiver.ts';

const isShort = process.env['BATCHGATE_ACCEPTANCE'] === 'short';
const FILES = isShort ? 24 : 200;
const ADDED = 10;
const WITHIN_MS = isShort ? 60_000 : 600_000;
const UPLOADS_AT_ONCE = 4;
const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

interface DocumentAnswer {
  readonly id: string;
  readonly file_name: string;
  readonly status: string;
  readonly started_at: string | null;
  readonly completed_at: string | null;
  readonly line_items: Record<string, string | null>[] | null;
  readonly provenance: { page: number | null; confidence: number | null }[] | null;
  readonly processing_error: { code: string } | null;
}

interface BatchAnswer {
  readonly status: string;
  readonly all_done: boolean;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly completed_at: string | null;
  readonly counts: Record<string, number>;
}

type Results = BatchAnswer & { readonly documents: readonly DocumentAnswer[] };

let folder: string;
let gateway: TestGateway;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'batchgate-documents-'));
  gateway = await startGateway({ artifacts: createFolderStore(folder), settings: { documentsAtOnce: 8 } });
});
afterAll(async () => {
  await gateway.stop();
  await rm(folder, { recursive: true, force: true });
});

describe.each(['direct', 'batch'] as const)('mixed files, mode %s', (mode) => {
  const batch = `Mixed / ${mode}`;
  const path = `/v1/batches/${encodeURIComponent(batch)}`;
  const runs: string[] = [];
  let caller: Caller;
  let tenantId: string;
  let receiver: WebhookReceiver;
  let secret: string;
  let files: MixedFile[];

  beforeAll(async () => {
    [{ caller, tenantId }, receiver, files] = await Promise.all([
      gateway.newTenant(),
      startReceiver(),
      mixedDocuments(FILES, mode),
    ]);
    ({ secret } = await caller.call<{ secret: string }>('PUT', `${path}/webhook`, { url: receiver.url }));
  });
  afterAll(() => receiver.close());

  const results = () => caller.call<Results>('GET', `${path}/results`);

  /** Starts a run and waits until the webhook tells of its end. */
  async function processed(body: Record<string, unknown>): Promise<Record<string, unknown>> {
    const { run_id: runId } = await caller.call<{ run_id: string }>('POST', `${path}/process`, body);
    runs.push(runId);
    const call = await eventually(() => receiver.calls.find(({ bytes }) => bytes.includes(runId)), {
      timeoutMs: WITHIN_MS,
    });
    expect(isSignedWith(secret, call)).toBe(true);
    const { type, data } = JSON.parse(call.bytes.toString());
    expect(type).toBe('document_batch.run_finished');
    return data;
  }

  test('end in the right states with the right rows, and what cannot be read is refused at its upload', async () => {
    await uploadAll(caller, batch, files);
    const taken = files.filter(({ end }) => end.kind !== 'refused');
    const told = await processed({ columns: MIXED_COLUMNS, mode });
    const counts = { queued: 0, processing: 0, canceled: 0, ...countsOf(taken) };
    expect(told).toEqual({
      ...{ run_id: runs[0], batch_name: batch, customer_id: null, status: 'succeeded', all_done: true, counts },
    });
    const shown = await results();
    expect(shown).toMatchObject({ status: 'succeeded', all_done: true, counts, completed_at: expect.any(String) });
    expectEnds(shown, taken);
  });

  test('ten more reopen the batch, and their end is told without another registration', async () => {
    const before = await caller.call<BatchAnswer>('GET', path);
    const more = (await mixedDocuments(FILES, `more ${mode}`)).filter(({ end }) => end.kind !== 'refused');
    const added = more.slice(0, ADDED);
    await uploadAll(caller, batch, added);
    expect(await caller.call('GET', path)).toMatchObject({
      ...{ status: 'processing', all_done: false, completed_at: null, started_at: before.started_at },
      counts: { ...before.counts, queued: ADDED },
    });
    const told = await processed({ mode });
    expect(told).toMatchObject({ run_id: runs[1], status: 'succeeded', all_done: true });
    const shown = await results();
    expect(shown).toMatchObject({ status: 'succeeded', all_done: true, started_at: before.started_at });
    expect(Date.parse(shown.completed_at ?? '')).toBeGreaterThanOrEqual(Date.parse(before.completed_at ?? ''));
    expectEnds(
      shown,
      [...files, ...added].filter(({ end }) => end.kind !== 'refused'),
    );
    const events = new Set(receiver.calls.map(({ headers }) => headers['webhook-id']));
    expect(events.size).toBe(2);
  });

  test('CSV and XLSX have the rows that JSON has', async () => {
    const { documents, created_at: created, started_at: started, completed_at: completed } = await results();
    const times = [created, started, completed];
    const rows = documents.flatMap(tableRowsOf);
    const own = ['document', 'file_name', 'status', 'error', 'page', 'confidence', 'vendor', 'date', 'total'];
    const header = [...own, 'batch_created_at', 'batch_started_at', 'batch_completed_at'];
    const csv = await caller.fetch(`${path}/results`, { headers: { accept: 'text/csv' } });
    expect(parse(await csv.text())).toEqual([
      header,
      ...rows.map((row) => [...row, ...times].map((cell) => String(cell ?? ''))),
    ]);
    const xlsx = await caller.fetch(`${path}/results`, { headers: { accept: XLSX } });
    const [sheet] = await readSheet(Buffer.from(await xlsx.arrayBuffer()));
    // An amount is a number there, and a day is a day.
    const cells = rows.map(([id, name, status, error, page, confidence, vendor, date, total]) => [
      ...[id, name, status, error, page, confidence, vendor],
      ...[date == null ? null : new Date(String(date)), total == null ? null : Number(total)],
      ...times,
    ]);
    expect(sheet?.data).toEqual([header, ...cells]);
  });

  test('the money of every run adds up, and nothing stays held', async () => {
    const holdings = await readHoldings(tenantId);
    expect(holdings.length).toBeGreaterThanOrEqual(runs.length);
    for (const { jobId, ...holding } of holdings)
      expect([jobId, lawHolds(holding), holding.held]).toEqual([jobId, true, 0n]);
    expect(holdings.every(({ settled }) => settled > 0n)).toBe(true);
    const { held, settled } = await caller.budget();
    expect([Number(held), parseNumeric(settled)]).toEqual([0, holdings.reduce((sum, each) => sum + each.settled, 0n)]);
    expect((await verifyLedger(gateway.database.db, {})).differences).toEqual([]);
  });
});

async function uploadAll(caller: Caller, batch: string, files: readonly MixedFile[]): Promise<void> {
  const rest = files.values();
  const lane = async () => {
    for (const { name, content, end } of rest) {
      const form = new FormData();
      form.append('batch_name', batch);
      form.append('file', new Blob([new Uint8Array(content)]), name);
      const response = await caller.fetch('/v1/documents', { method: 'POST', body: form });
      const { error = null } = (await response.json()) as { error?: string };
      expect([name, response.status < 500, error]).toEqual([name, true, end.kind === 'refused' ? end.code : null]);
    }
  };
  await Promise.all(Array.from({ length: UPLOADS_AT_ONCE }, lane));
}

function countsOf(files: readonly MixedFile[]): { succeeded: number; failed: number } {
  const succeeded = files.filter(({ end }) => end.kind === 'succeeded').length;
  return { succeeded, failed: files.length - succeeded };
}

function expectEnds({ documents }: Results, files: readonly MixedFile[]): void {
  const wanted = files.map(({ name, end }) => ({
    name,
    status: end.kind,
    rows: end.kind === 'succeeded' ? end.rows : null,
    pages: end.kind === 'succeeded' ? end.pages : null,
    error: end.kind === 'failed' ? end.code : null,
  }));
  const found = documents.map(({ file_name: name, status, line_items: rows, provenance, processing_error: error }) => ({
    ...{ name, status, rows },
    pages: provenance?.map(({ page }) => page) ?? null,
    error: error?.code ?? null,
  }));
  const byName = (one: { name: string }, other: { name: string }) => (one.name < other.name ? -1 : 1);
  expect(found.toSorted(byName)).toEqual(wanted.toSorted(byName));
  for (const { started_at: startedAt, completed_at: completedAt } of documents)
    expect(Date.parse(completedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(startedAt ?? ''));
}

function tableRowsOf({
  id,
  file_name: name,
  status,
  line_items: items,
  provenance,
  processing_error: error,
}: DocumentAnswer) {
  const own = [id, name, status, error?.code ?? null];
  if (items === null || items.length === 0) return [[...own, null, null, null, null, null]];
  return items.map(({ vendor, date, total }, index) => [
    ...[...own, provenance?.[index]?.page ?? null, provenance?.[index]?.confidence ?? null],
    ...[vendor, date, total],
  ]);
}

/** Of the runs of a tenant, and of the jobs that repaired what they gave. */
async function readHoldings(tenantId: string): Promise<(Holding & { readonly jobId: string })[]> {
  const { rows } = await gateway.database.db.pool.query(
    `SELECT j.job_id, j.reserved_amount, p.settled_amount, coalesce(j.overage_amount, 0) AS overage_amount, h.amount - h.drawn AS rest, h.released
     FROM batch_jobs j JOIN job_progress p USING (job_id) JOIN holds h USING (job_id)
     WHERE j.kind = 'document' AND j.tenant_id = $1`,
    [tenantId],
  );
  return rows.map((row) => ({
    jobId: row.job_id,
    reserved: parseNumeric(row.reserved_amount),
    overage: parseNumeric(row.overage_amount),
    settled: parseNumeric(row.settled_amount),
    released: row.released === null ? 0n : parseNumeric(row.released),
    held: row.released === null ? parseNumeric(row.rest) : 0n,
  }));
}
