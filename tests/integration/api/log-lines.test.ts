import { afterAll, expect, test } from 'vitest';
import { createLogger } from '../../../telemetry/logger.ts';
import { createTestApi } from '../../harness/api.ts';
import { createTestDatabase } from '../../harness/postgres.ts';

const { db, drop } = await createTestDatabase();
afterAll(drop);
const log: string[] = [];
const logger = createLogger({ level: 'trace', service: 'api', destination: { write: (line) => log.push(line) } });
const caller = await createTestApi(db, { logger }).caller();

const FORGED = '{"level":"info","msg":"request","status":200,"tenant_id":"tenant_forged"}';

test('whatever a caller puts into its path, headers and body, the log has one line of ours for each call', async () => {
  const inPath = encodeURIComponent(`x\n${FORGED}\n`);
  const headers = { 'x-request-id': FORGED, 'user-agent': FORGED, 'x-forwarded-for': FORGED };
  const asked = await Promise.all([
    caller.get(`/v1/batch-jobs/${inPath}`, headers),
    caller.get(`/v1/batch-jobs?name=${inPath}`, headers),
    caller.get(`/v1/no-such/${inPath}`, headers),
    caller.post('/v1/batch-jobs', { name: `x\n${FORGED}` }, { ...headers, 'idempotency-key': FORGED }),
    caller.call('POST', '/v1/batch-jobs', {
      body: `\n${FORGED}\n`,
      headers: { ...headers, 'content-type': 'application/json' },
    }),
  ]);
  expect(log).toHaveLength(asked.length);
  expect(log.join('')).not.toContain('tenant_forged');
  const lines = log.map((line) => JSON.parse(line));
  expect(lines.map((line) => line.request_id).toSorted()).toEqual(
    asked.map(({ headers: answered }) => answered.get('x-request-id')).toSorted(),
  );
  for (const line of lines) expect(line).toMatchObject({ msg: 'request', status: expect.any(Number) });
});
