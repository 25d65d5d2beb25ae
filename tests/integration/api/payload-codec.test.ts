import { randomBytes } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { createKeyRing, KEY_BYTES } from '../../../encryption/key-ring.ts';
import { createPayloadCodec, toText } from '../../../encryption/payload-codec.ts';
import { createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const api = createTestApi(db);
const operator = await api.caller('operator');
/** As the Web UI writes it. */
const PLAIN = {
  metadata: { encoding: Buffer.from('json/plain').toString('base64') },
  data: Buffer.from('{"jobId":"job_1"}').toString('base64'),
};
/** Of the Web UI of the test's gateway. */
const ORIGIN = 'http://127.0.0.1:8233';

test('what encode seals decode opens, and what is not sealed stays as it is', async () => {
  const headers = { 'x-namespace': 'default', origin: ORIGIN };
  const encoded = await operator.post('/codec/encode', { payloads: [PLAIN] }, headers);
  expect(encoded.status).toBe(200);
  expect(encoded.json.payloads[0].metadata.encoding).toBe(Buffer.from('binary/encrypted').toString('base64'));
  expect(encoded.text).not.toContain(PLAIN.data);
  const both = { payloads: [...encoded.json.payloads, PLAIN, {}] };
  const decoded = await operator.post('/codec/decode', both, headers);
  expect(decoded.json).toEqual({ payloads: [PLAIN, PLAIN, { metadata: {}, data: '' }] });
  expect(decoded.headers.get('access-control-allow-origin')).toBe(ORIGIN);
});

test('a payload that another key sealed, or that is damaged, is refused with the reason', async () => {
  const stranger = createPayloadCodec(createKeyRing([{ id: 'theirs', key: randomBytes(KEY_BYTES) }]), {
    encodes: true,
  });
  const [sealed = {}] = await stranger.encode([{ metadata: {}, data: Buffer.of(1) }]);
  const answer = await operator.post('/codec/decode', { payloads: [toText(sealed)] });
  expect(answer).toMatchObject({ status: 400, json: { error: 'invalid_request', field: 'payloads' } });
  expect(answer.json.message).toContain('sealed by the key theirs, which is not configured');
  const damaged = await operator.post('/codec/decode', { payloads: [{ ...toText(sealed), data: 'AQID' }] });
  expect(damaged.status).toBe(400);
  const noBase64 = await operator.post('/codec/decode', { payloads: [{ ...PLAIN, data: '%' }] });
  expect(noBase64).toMatchObject({ status: 400, json: { field: 'payloads[0].data' } });
});

test.each(['tenant_admin', 'project', 'customer'] as const)('a key of the role %s is refused', async (role) => {
  const caller = await api.caller(role, { projectId: 'web', customerId: 'one' });
  for (const path of ['/codec/decode', '/codec/encode'])
    expect((await caller.post(path, { payloads: [PLAIN] })).status).toBe(403);
});

test('a browser may ask from the Web UI’s origin alone, without a key before it asks', async () => {
  const ask = (origin: string) =>
    api.app.request('/codec/decode', {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type,x-namespace',
      },
    });
  const { status, headers } = await ask(ORIGIN);
  expect([status, headers.get('access-control-allow-origin')]).toEqual([204, ORIGIN]);
  expect(headers.get('access-control-allow-headers')).toBe('authorization,content-type,x-namespace');
  expect(headers.get('access-control-allow-credentials')).toBe('true');
  expect((await ask('https://elsewhere.example')).headers.get('access-control-allow-origin')).toBeNull();
});
