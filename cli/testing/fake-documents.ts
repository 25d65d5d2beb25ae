import { createHash } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import type { Document, DocumentBatch } from '../../contracts/document.ts';
import { readDocumentColumns } from '../../contracts/document-columns.ts';
import { ProcessBatch } from '../../contracts/process-batch.ts';

const AT = '2026-08-19T10:00:00.000Z';

/** What a test arranges and looks at. */
export interface FakeDocuments {
  readonly url: string;
  /** In the order of upload, those of all batches. */
  readonly documents: Document[];
  readonly processed: ProcessBatch[];
  /** Calls as `GET /path?query`. */
  readonly calls: string[];
  /** Answered to the next calls of `GET /path` instead, in order. */
  readonly refusals: {
    readonly call: string;
    readonly status: number;
    readonly error: string;
    retryAfter?: number;
    field?: string;
  }[];
  /** How each document of the next run ends; `processing` for one that never does. */
  endOf: (document: Document) => Partial<Document>;
  /** Looks at a batch until its documents have ended. */
  looks: number;
  close(): Promise<void>;
}

/** A gateway that knows documents alone, over real HTTP. A file with the content `empty` is refused. */
export async function startFakeDocuments(): Promise<FakeDocuments> {
  const app = new Hono();
  const { promise: listening, resolve } = Promise.withResolvers<AddressInfo>();
  const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, resolve);
  const fake: FakeDocuments = {
    url: `http://127.0.0.1:${(await listening).port}`,
    documents: [],
    processed: [],
    calls: [],
    refusals: [],
    endOf: () => ({ status: 'succeeded', line_items: [{ total: '1.00' }] }),
    looks: 1,
    close: () => new Promise((done) => server.close(() => done())),
  };
  addRoutes(app, fake);
  return fake;
}

function addRoutes(app: Hono, fake: FakeDocuments): void {
  const running = new Set<string>();
  const named = new Map<string, Pick<DocumentBatch, 'columns' | 'model'>>();
  const inBatch = (name = '') => fake.documents.filter(({ batch_name: batch }) => batch === name);
  const refuse = (error: string, message = 'refused') => ({ error, message, request_id: 'req_1' });

  app.use(async (c, next) => {
    const { pathname, search } = new URL(c.req.url);
    fake.calls.push(`${c.req.method} ${pathname}${decodeURIComponent(search)}`);
    const index = fake.refusals.findIndex(({ call }) => call === `${c.req.method} ${pathname}`);
    const [refusal] = index === -1 ? [] : fake.refusals.splice(index, 1);
    if (refusal === undefined) return next();
    await c.req.arrayBuffer();
    if (refusal.retryAfter !== undefined) c.header('Retry-After', String(refusal.retryAfter));
    return c.json({ ...refuse(refusal.error), field: refusal.field }, refusal.status as 429);
  });
  app.post('/v1/documents', async (c) => {
    const { file, batch_name: batchName } = await c.req.parseBody();
    if (!(file instanceof File) || typeof batchName !== 'string') return c.json(refuse('invalid_request'), 400);
    const content = Buffer.from(await file.arrayBuffer());
    if (content.toString() === 'empty') return c.json(refuse('document_empty', 'It is empty.'), 422);
    const document = makeDocument(`doc_${fake.documents.length + 1}`, batchName, file.name, content);
    fake.documents.push(document);
    return c.json(document, 201);
  });
  app.get('/v1/documents', (c) => {
    const { batch_name: name, status, cursor = '0' } = c.req.query();
    const all = inBatch(name).filter((document) => status === undefined || document.status === status);
    const end = Number(cursor) + PAGE;
    return c.json({ data: all.slice(Number(cursor), end), next_cursor: end < all.length ? String(end) : null });
  });
  app.post('/v1/batch/process', async (c) => {
    const name = c.req.query('batch_name') ?? '';
    const asked = ProcessBatch.parse(await c.req.json());
    const wanted = asked.include === 'failed' ? ['queued', 'failed'] : ['queued'];
    const taken = inBatch(name).filter(({ id, status }) => wanted.includes(status) && !running.has(id));
    if (taken.length === 0) return c.json(refuse('nothing_to_process'), 409);
    fake.processed.push(asked);
    const last = named.get(name);
    const columns = asked.columns === undefined ? (last?.columns ?? null) : [...readDocumentColumns(asked.columns)];
    named.set(name, { columns, model: asked.model ?? last?.model ?? 'documents' });
    for (const { id } of taken) running.add(id);
    const run = { run_id: 'run_1', batch_name: name, mode: 'direct', model: 'documents', documents: taken.length };
    return c.json({ ...run, columns: [] }, 202);
  });
  app.get('/v1/batch', (c) => {
    const documents = inBatch(c.req.query('batch_name'));
    if (documents.length === 0) return c.json(refuse('not_found'), 404);
    if (running.size > 0) fake.looks -= 1;
    if (fake.looks < 0) {
      for (const [index, document] of fake.documents.entries())
        if (running.has(document.id)) fake.documents[index] = { ...document, ...fake.endOf(document) };
      running.clear();
    }
    const name = c.req.query('batch_name') ?? '';
    return c.json({ ...batchOf(inBatch(name)), ...named.get(name) });
  });
  app.get('/v1/batch/results', (c) => {
    const names = inBatch(c.req.query('batch_name')).map(({ file_name: name }) => name);
    const type = c.req.header('accept') ?? '';
    c.header('Content-Type', type);
    if (type.endsWith('sheet')) return c.body(XLSX);
    return c.body(type === 'text/csv' ? names.join('\r\n') : JSON.stringify({ documents: names }));
  });
}

/** Not text of any encoding. */
export const XLSX = new Uint8Array([0x50, 0x4b, 0x03, 0x04, 0xff, 0xfe, 0x00, 0xc3]);
const PAGE = 2;

function makeDocument(id: string, batchName: string, name: string, content: Buffer): Document {
  return {
    ...{ id, batch_name: batchName, customer_id: null, project_id: null, file_name: name, media_type: 'text/plain' },
    ...{ bytes: content.length, sha256: createHash('sha256').update(content).digest('hex'), pages: null },
    ...{ duplicate_of: null, status: 'queued', created_at: AT, started_at: null, completed_at: null, line_items: null },
    ...{ provenance: null, processing_error: null, run_id: null, content_deleted_at: null },
  };
}

function batchOf(documents: readonly Document[]): DocumentBatch {
  const counts = { queued: 0, processing: 0, succeeded: 0, failed: 0, canceled: 0 };
  for (const { status } of documents) counts[status] += 1;
  const isDone = counts.queued + counts.processing === 0;
  const status = isDone ? (counts.succeeded > 0 ? 'succeeded' : 'failed') : 'queued';
  return {
    ...{ batch_name: documents[0]?.batch_name ?? '', customer_id: null, project_id: null, status, counts },
    ...{ all_done: isDone, created_at: AT, started_at: null, completed_at: isDone ? AT : null, deleted_at: null },
    ...{ columns: null, model: null },
  };
}
