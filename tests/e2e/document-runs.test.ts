import { afterAll, beforeAll, expect, test } from 'vitest';
import { verifyLedger } from '../../ledger/verify.ts';
import { documentRunWorkflowId } from '../../workflows/ids.ts';
import { eventually } from '../harness/eventually.ts';
import { type Caller, startGateway, type TestGateway } from '../harness/gateway.ts';
import { createTestFolder, formOf } from '../integration/documents/document-fixture.ts';

const folder = createTestFolder();
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ artifacts: folder.store, settings: { documentsAtOnce: 2 } });
});
afterAll(async () => {
  await gateway.stop();
  folder.remove();
});

interface DocumentAnswer {
  readonly status: string;
  readonly line_items: readonly Record<string, unknown>[] | null;
  readonly processing_error: { readonly code: string } | null;
}

const COLUMNS = [
  { name: 'vendor', required: true },
  { name: 'total', type: 'currency' },
];

async function upload(caller: Caller, text: string): Promise<void> {
  const { body, headers } = await formOf([
    ['file', Buffer.from(text), 'a.txt'],
    ['batch_name', 'b'],
  ]);
  const answer = await caller.fetch('/v1/documents', { method: 'POST', body: Buffer.from(body), headers });
  if (answer.status !== 201) throw new Error(`upload answered ${answer.status}: ${await answer.text()}`);
}

/** The documents of the batch once the run is over. */
async function ended(caller: Caller, runId: string): Promise<readonly DocumentAnswer[]> {
  const { pool } = gateway.database.db;
  await eventually(
    async () => {
      const { rows } = await pool.query(
        "SELECT 1 FROM events WHERE type = 'document_batch.run_finished' AND data ->> 'run_id' = $1",
        [runId],
      );
      return rows.length === 1;
    },
    { timeoutMs: 60_000 },
  );
  await gateway.client.workflow.result(documentRunWorkflowId(runId));
  return (await caller.call<{ data: DocumentAnswer[] }>('GET', '/v1/documents?batch_name=b')).data;
}

test.each([
  ['direct', 'openai/gpt-4o-mini'],
  ['batch', 'anthropic/claude-haiku-5-5'],
  ['batch', 'gemini/gemini-3.1-flash-lite'],
])('documents give their rows in the mode %s on %s, one is mended, and one cannot be', async (mode, model) => {
  const { caller } = await gateway.newTenant();
  await upload(caller, 'vendor: Acme\ntotal: 12.50');
  await upload(caller, '[[sim:rows=missing:vendor]][[sim:once]]\nvendor: Borg\ntotal: 7');
  await upload(caller, '[[sim:rows=broken]]\nvendor: Never');
  const run = await caller.call<{ run_id: string }>('POST', '/v1/batches/b/process', { columns: COLUMNS, model, mode });
  const [plain, mended, broken] = await ended(caller, run.run_id);
  expect(plain).toMatchObject({ status: 'succeeded', line_items: [{ vendor: 'Acme', total: '12.50' }] });
  expect(mended).toMatchObject({ status: 'succeeded', line_items: [{ vendor: 'Borg' }] });
  expect(broken).toMatchObject({ status: 'failed', processing_error: { code: 'rows_do_not_fit' } });
  expect(Number((await caller.budget()).held)).toBe(0);
  expect((await verifyLedger(gateway.database.db)).differences).toEqual([]);
});
