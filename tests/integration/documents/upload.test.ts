import { hash } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { documentFiles } from '../../../artifacts/document-files.ts';
import { type ArtifactStore, ArtifactStoreError } from '../../../artifacts/store.ts';
import { encryptedPdf, sampleJpeg, samplePdf, samplePng, sampleWebp } from '../../../documents/testing/sample-files.ts';
import { TEST_CIPHER } from '../../harness/activities.ts';
import { createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { testDocuments, testIntake } from '../../harness/test-intake.ts';
import { createTestFolder, fileOf, upload, uploadParts } from './document-fixture.ts';

const { db, drop } = await createTestDatabase();
const folder = createTestFolder();
afterAll(async () => {
  await drop();
  folder.remove();
});
const api = createTestApi(db, { artifacts: folder.store });

const keysOf = async () => (await Array.fromAsync(folder.store.list('documents/'))).sort();
const bytesOf = async (id: string) =>
  Buffer.concat(await Array.fromAsync(await folder.store.get(await fileOf(db, id), new AbortController().signal)));
const count = async (table: string) => (await db.pool.query(`SELECT count(*)::int AS n FROM ${table}`)).rows[0].n;

describe('an upload', () => {
  test('is stored whole, queued and not processed, and its batch comes into being with it', async () => {
    const caller = await api.caller();
    const pdf = await samplePdf({ pages: 2 });
    const { status, json } = await upload(caller, 'Invoices', pdf, 'rechnung.txt');
    expect(status).toBe(201);
    expect(json).toEqual({
      id: expect.stringMatching(/^doc_/),
      ...{ batch_name: 'Invoices', customer_id: null, project_id: null, file_name: 'rechnung.txt' },
      ...{ media_type: 'application/pdf', bytes: pdf.length, sha256: hash('sha256', pdf), pages: 2 },
      ...{ duplicate_of: null, status: 'queued', created_at: expect.any(String), started_at: null, completed_at: null },
      ...{ line_items: null, provenance: null, processing_error: null, run_id: null, content_deleted_at: null },
    });
    expect(await bytesOf(json.id)).toEqual(Buffer.from(pdf));
    expect((await caller.get('/v1/batches/Invoices')).json).toMatchObject({ status: 'queued', counts: { queued: 1 } });
    expect((await caller.get(`/v1/documents/${json.id}`)).json).toEqual(json);
    expect(api.workflows.calls).toEqual([]);
    const { rows } = await db.pool.query('SELECT * FROM documents WHERE sha256 = $1', [
      Buffer.from(hash('sha256', pdf), 'hex'),
    ]);
    expect(rows[0]).toMatchObject({ storage: 'raw', content_kept_ms: String(30 * 24 * 3_600_000), pages: 2 });
    expect(rows[0].text_tokens).toBeGreaterThan(10);
    expect(await count('document_uploads')).toBe(0);
  });

  test.each([
    ['image/png', samplePng()],
    ['image/jpeg', sampleJpeg()],
    ['image/webp', sampleWebp()],
    ['text/csv', Buffer.from('date,total\n2026-01-01,5\n')],
    ['text/plain', Buffer.from('Total: 5')],
  ])('of %s is known by its content, whatever its name says', async (mediaType, bytes) => {
    const { status, json } = await upload(await api.caller(), 'b', bytes, 'scan.pdf');
    expect([status, json.media_type]).toEqual([201, mediaType]);
  });

  test('takes its parts in any order, and a file without a name', async () => {
    const caller = await api.caller();
    const answer = await uploadParts(caller, [
      ['batch_name', 'b'],
      ['file', Buffer.from('text'), ''],
    ]);
    expect([answer.status, answer.json.file_name]).toEqual([201, null]);
  });

  test('of the same file twice into a batch is taken, and told', async () => {
    const caller = await api.caller();
    const first = await upload(caller, 'b', 'same', 'one.txt');
    const second = await upload(caller, 'b', 'same', 'two.txt');
    const third = await upload(caller, 'b', 'same', 'three.txt');
    expect([second.json.duplicate_of, third.json.duplicate_of]).toEqual([first.json.id, first.json.id]);
    expect((await upload(caller, 'other', 'same')).json.duplicate_of).toBeNull();
    expect((await caller.get('/v1/batches/b')).json.counts.queued).toBe(3);
  });

  test('keeps names of any characters exactly, and uses them as no path', async () => {
    const caller = await api.caller();
    for (const name of [
      '../../etc/passwd',
      'a/b',
      '..',
      '.',
      'ünïcode 🧾 "quoted"',
      'C:\\x',
      ' space ',
      '%2F',
      'a?b#c',
    ]) {
      const answer = await upload(caller, name, `text of ${name}`, `${name}.txt`);
      expect([answer.status, answer.json.batch_name]).toEqual([201, name]);
      expect(answer.json.file_name).toBe(`${name}.txt`);
      expect((await caller.get(`/v1/batch?batch_name=${encodeURIComponent(name)}`)).json.batch_name).toBe(name);
    }
    for (const key of await keysOf()) expect(key).toMatch(/^documents\/upload_[0-9a-z]{26}$/);
  });

  test('of the first documents of a batch at once makes one batch', async () => {
    const caller = await api.caller();
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => upload(caller, 'first', `text ${index}`)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(201));
    expect((await caller.get('/v1/batches')).json.data).toMatchObject([{ batch_name: 'first', counts: { queued: 8 } }]);
  });

  test('that was begun first and ends last is the later document, and the copy', async () => {
    const held = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    const put: ArtifactStore['put'] = async (...file) => {
      arrived.resolve();
      await held.promise;
      return folder.store.put(...file);
    };
    const tenantId = await api.tenant();
    const slow = await createTestApi(db, { artifacts: { ...folder.store, put } }).caller('tenant_admin', { tenantId });
    const caller = await api.caller('tenant_admin', { tenantId });
    const first = upload(slow, 'b', 'same');
    await arrived.promise;
    const second = (await upload(caller, 'b', 'same')).json;
    const page = await caller.get('/v1/documents?limit=1&batch_name=b');
    await upload(caller, 'b', 'another');
    held.resolve();
    const { json } = await first;
    expect(second.duplicate_of).toBeNull();
    expect(json.duplicate_of).toBe(second.id);
    const all = (await caller.get('/v1/documents?batch_name=b')).json.data;
    expect(page.json.data.map(({ id }: { id: string }) => id)).toEqual([second.id]);
    expect(all.map(({ id }: { id: string }) => id).at(-1)).toBe(json.id);
    const times = all.map(({ created_at: time }: { created_at: string }) => time);
    expect(times).toEqual(times.toSorted());
  });

  test('is audited without any name', async () => {
    const caller = await api.caller();
    const { json } = await upload(caller, 'secret batch', 'text', 'secret file.txt');
    const { rows } = await db.pool.query('SELECT act, details FROM audit_log WHERE subject = $1', [json.id]);
    expect(rows).toEqual([
      { act: 'document.uploaded', details: { batch_id: expect.any(String), media_type: 'text/plain', bytes: 4 } },
    ]);
  });
});

describe('an upload is refused, and nothing stored,', () => {
  const cases: readonly (readonly [string, () => Promise<Uint8Array> | Uint8Array, number, string])[] = [
    ['of an empty file', () => Buffer.alloc(0), 422, 'document_empty'],
    ['of white space', () => Buffer.from(' \n'), 422, 'document_empty'],
    ['of an encrypted PDF', () => encryptedPdf({ hasPassword: true }), 422, 'document_encrypted'],
    ['of a PDF with restrictions', () => encryptedPdf({ hasPassword: false }), 422, 'document_encrypted'],
    ['of half a PDF', async () => (await samplePdf()).subarray(0, 400), 422, 'document_corrupt'],
    ['of half an image', () => samplePng().subarray(0, 50), 422, 'document_corrupt'],
    ['of a zip', () => Buffer.from('504b0304140000000000', 'hex'), 415, 'document_type_unsupported'],
    ['of Latin-1', () => Buffer.from('Größe', 'latin1'), 415, 'document_type_unsupported'],
    ['of too many bytes', () => Buffer.alloc(1024 ** 2 + 1, 'a'), 413, 'document_too_large'],
    ['of too many pages', () => samplePdf({ pages: 21 }), 413, 'document_too_large'],
    ['of too many pixels', () => samplePng({ width: 1_001, height: 1_000 }), 413, 'document_too_large'],
  ];
  test.each(cases)('%s', async (_, make, status, code) => {
    const caller = await api.caller();
    const before = await keysOf();
    const answer = await upload(caller, 'b', await make());
    expect([answer.status, answer.json.error, answer.json.field]).toEqual([status, code, 'file']);
    expect(answer.json.message).toContain('file:');
    expect((await caller.get('/v1/batches')).json.data).toEqual([]);
    expect(await keysOf()).toEqual(before);
  });

  test('with the limit in its message', async () => {
    const caller = await api.caller();
    expect((await upload(caller, 'b', Buffer.alloc(1024 ** 2 + 1, 'a'))).json.message).toContain('1048576 bytes');
    expect((await upload(caller, 'b', await samplePdf({ pages: 21 }))).json.message).toContain('20 pages');
    expect((await upload(caller, 'b', Buffer.alloc(1024 ** 2, 'a '))).status).toBe(201);
  });

  const file = ['file', Buffer.from('x'), 'x.txt'] as const;
  test.each([
    ['without a file', [['batch_name', 'b']], 'file'],
    ['without a name', [file], 'batch_name'],
    ['with two files', [file, file, ['batch_name', 'b']], 'file'],
    ['with two names', [file, ['batch_name', 'b'], ['batch_name', 'c']], 'batch_name'],
    [
      'with a file that is a text',
      [
        ['file', 'x'],
        ['batch_name', 'b'],
      ],
      'file',
    ],
    ['with a name that is a file', [['batch_name', Buffer.from('b'), 'b'], file], 'batch_name'],
    ['with another part', [['model', 'x'], file], 'model'],
    ['with a NUL in a name', [file, ['batch_name', 'a\0b']], 'batch_name'],
    ['with a NUL in a customer', [file, ['batch_name', 'b'], ['customer_id', 'a\0b']], 'customer_id'],
    [
      'with a line break in a file name',
      [
        ['file', Buffer.from('x'), 'a\nb.txt'],
        ['batch_name', 'b'],
      ],
      'file.filename',
    ],
    ['with an empty name', [file, ['batch_name', '']], 'batch_name'],
    ['with a name of spaces', [file, ['batch_name', '  ']], 'batch_name'],
    ['with a name that is too long', [file, ['batch_name', 'x'.repeat(256)]], 'batch_name'],
    ['with a name that is far too long', [file, ['batch_name', 'x'.repeat(20_000)]], 'batch_name'],
    ['with a line break in its name', [file, ['batch_name', 'a\nb']], 'batch_name'],
    [
      'with a file name that is too long',
      [
        ['file', Buffer.from('x'), 'x'.repeat(256)],
        ['batch_name', 'b'],
      ],
      'file.filename',
    ],
  ] as const)('%s', async (_, parts, field) => {
    const answer = await uploadParts(await api.caller(), parts);
    expect([answer.status, answer.json.error, answer.json.field]).toEqual([400, 'invalid_request', field]);
  });

  test('with many parts, or none that is whole', async () => {
    const caller = await api.caller();
    const many = await uploadParts(
      caller,
      Array.from({ length: 50 }, () => ['batch_name', 'b'] as const),
    );
    expect(many.status).toBe(400);
    const headers = { 'content-type': 'multipart/form-data; boundary=x' };
    for (const body of [
      '',
      'text',
      '--x\r\n',
      '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nabc',
    ]) {
      const answer = await caller.call('POST', '/v1/documents', { body, headers });
      expect([body, answer.status, answer.json.error]).toEqual([body, 400, 'invalid_request']);
    }
    expect(
      (await caller.call('POST', '/v1/documents', { body: 'x', headers: { 'content-type': 'multipart/form-data' } }))
        .status,
    ).toBe(415);
    expect((await caller.post('/v1/documents', {})).status).toBe(415);
    const none = await caller.call('POST', '/v1/documents', {
      body: '--y--\r\n',
      headers: { 'content-type': 'multipart/form-data; boundary=y', 'content-encoding': 'gzip' },
    });
    expect(none.status).toBe(415);
  });

  test.each(['batch_name', 'customer_id'])('with %s in a charset that nobody knows', async (field) => {
    const part = (head: string, content: string) =>
      `--x\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}\r\n`;
    const names = ['batch_name', 'customer_id'].map((name) =>
      part(`name="${name}"${name === field ? '\r\nContent-Type: text/plain; charset=klingon' : ''}`, 'b'),
    );
    const body = `${part('name="file"; filename="a.txt"', 'text')}${names.join('')}--x--\r\n`;
    const headers = { 'content-type': 'multipart/form-data; boundary=x' };
    const answer = await (await api.caller()).call('POST', '/v1/documents', { body, headers });
    expect([answer.status, answer.json.error, answer.json.field]).toEqual([400, 'invalid_request', field]);
  });

  test('where there is no store, or it is away', async () => {
    const { tenantId } = { tenantId: await api.tenant() };
    const none = await createTestApi(db).caller('tenant_admin', { tenantId });
    expect((await upload(none, 'b')).json).toMatchObject({
      error: 'dependency_unavailable',
      message: expect.stringContaining('BATCHGATE_ARTIFACT_STORE'),
    });
    const put = async (): Promise<never> => {
      throw new ArtifactStoreError('unavailable', 'away');
    };
    const away = await createTestApi(db, { artifacts: { ...folder.store, put } }).caller('tenant_admin', { tenantId });
    const answer = await upload(away, 'b');
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
    expect((await away.get('/v1/batches')).json.data).toEqual([]);
    expect(await count('document_uploads')).toBe(0);
  });

  test('but for the file of one whose note is gone: it may have become a document unheard', async () => {
    const put: ArtifactStore['put'] = async (...file) => {
      const stored = await folder.store.put(...file);
      await db.pool.query('DELETE FROM document_uploads WHERE artifact_key = $1', [file[0]]);
      return stored;
    };
    const before = await keysOf();
    const caller = await createTestApi(db, { artifacts: { ...folder.store, put } }).caller();
    expect((await upload(caller, 'b')).status).toBe(503);
    expect(await keysOf()).toHaveLength(before.length + 1);
  });

  test('of a suspended account, and beyond the bytes it may have stored', async () => {
    const tenantId = await api.tenant();
    const caller = await api.caller('tenant_admin', { tenantId });
    await db.pool.query(`UPDATE tenants SET policy = '{"max_stored_bytes": 100}' WHERE tenant_id = $1`, [tenantId]);
    expect((await upload(caller, 'b', 'x'.repeat(60))).status).toBe(201);
    const before = await keysOf();
    expect((await upload(caller, 'b', 'x'.repeat(60))).json.error).toBe('quota_exceeded');
    expect((await upload(caller, 'b', 'x'.repeat(40))).status).toBe(201);
    await db.pool.query('UPDATE tenants SET suspended_at = now() WHERE tenant_id = $1', [tenantId]);
    expect((await upload(caller, 'b', 'x')).json.error).toBe('tenant_suspended');
    expect((await keysOf()).length).toBe(before.length + 1);
  });
});

describe('an Idempotency-Key', () => {
  test('makes a repeated upload one document, and refuses other content', async () => {
    const caller = await api.caller();
    const parts = (text: string, batch = 'b') =>
      [
        ['file', Buffer.from(text), 'a.txt'],
        ['batch_name', batch],
      ] as const;
    const key = { 'idempotency-key': 'k1' };
    const first = await uploadParts(caller, parts('one'), key);
    const files = await keysOf();
    const again = await uploadParts(caller, [...parts('one')].reverse(), key);
    expect([again.status, again.text, again.headers.get('idempotency-replayed')]).toEqual([201, first.text, 'true']);
    expect((await uploadParts(caller, parts('two'), key)).json.error).toBe('idempotency_conflict');
    expect((await uploadParts(caller, parts('one', 'c'), key)).json.error).toBe('idempotency_conflict');
    expect(await keysOf()).toEqual(files);
    expect((await caller.get('/v1/documents')).json.data).toHaveLength(1);
  });

  test('makes two at once one document', async () => {
    const caller = await api.caller();
    const parts = [
      ['file', Buffer.from('one'), 'a.txt'],
      ['batch_name', 'b'],
    ] as const;
    const answers = await Promise.all([1, 2, 3].map(() => uploadParts(caller, parts, { 'idempotency-key': 'k' })));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect((await caller.get('/v1/documents')).json.data).toHaveLength(1);
  });
});

test.each(['pointers', 'hashes'])(
  'under %s the file lies sealed, and is kept for the read window alone',
  async (storage) => {
    const tenantId = await api.tenant();
    await db.pool.query('UPDATE tenants SET policy = $2 WHERE tenant_id = $1', [
      tenantId,
      { storage, read_window_ms: 5_000 },
    ]);
    const { json } = await upload(await api.caller('tenant_admin', { tenantId }), 'b', 'in clear');
    expect((await bytesOf(json.id)).includes('in clear')).toBe(false);
    const files = documentFiles(folder.store, TEST_CIPHER, storage as 'hashes');
    const opened = await Array.fromAsync(await files.get(await fileOf(db, json.id), new AbortController().signal));
    expect(Buffer.concat(opened).toString()).toBe('in clear');
    const { rows } = await db.pool.query('SELECT storage, content_kept_ms FROM documents WHERE tenant_id = $1', [
      tenantId,
    ]);
    expect(rows).toEqual([{ storage, content_kept_ms: '5000' }]);
  },
);

test('a body that fills the room for uploads is refused, and gives the room back', async () => {
  const intake = testIntake();
  const wrapped = createTestApi(db, {
    artifacts: folder.store,
    wrap: (dependencies) => ({
      ...dependencies,
      intake,
      documents: { ...testDocuments(), limits: { ...testDocuments().limits, maxBytes: 2 ** 40 } },
    }),
  });
  const caller = await wrapped.caller();
  const held = intake.spool.space.lease();
  held.take(intake.spool.space.maxBytes - 1_000);
  expect((await upload(caller, 'b', Buffer.alloc(2 * 1024 ** 2, 'a '))).json.error).toBe('rate_limited');
  held.release();
  expect((await upload(caller, 'b', Buffer.alloc(2 * 1024 ** 2, 'a '))).status).toBe(201);
  expect(intake.spool.space.usedBytes).toBe(0);
});
