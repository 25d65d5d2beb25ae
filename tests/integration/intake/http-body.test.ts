import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { uploadManifest } from '../../../api/operations/upload-manifest.ts';
import { eventually } from '../../harness/eventually.ts';
import { createIntakeFixture, item, NOTHING_LEFT, ndjson, principalOf, TENANT } from './intake-fixture.ts';

let intake: Awaited<ReturnType<typeof createIntakeFixture>>;
let server: Server;
/** What each call came to, as the server sees it. */
const outcomes: unknown[] = [];

beforeAll(async () => {
  intake = await createIntakeFixture();
  server = createServer(async (incoming: IncomingMessage, response) => {
    const jobId = incoming.url?.slice(1) ?? '';
    const body = { principal: principalOf(TENANT), jobId, stream: incoming };
    const outcome = await uploadManifest(intake.dependencies, body).catch((error: unknown) => error);
    outcomes.push(outcome);
    response.end(JSON.stringify(outcome instanceof Error ? { message: outcome.message } : outcome));
    incoming.resume();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(async () => {
  server.close();
  server.closeAllConnections();
  await intake.close();
});

function open(jobId: string) {
  const { port } = server.address() as AddressInfo;
  const call = request({ port, host: '127.0.0.1', method: 'PUT', path: `/${jobId}` });
  // A connection that is cut, by a test or by the server's end, shows in what the test waits for.
  call.on('error', () => {});
  return call;
}

const lines = (count: number) =>
  ndjson(Array.from({ length: count }, (_, index) => item(`i${index}`, 'x'.repeat(500))));

test('a connection cut in the middle of a manifest leaves nothing', async () => {
  const jobId = await intake.newJob();
  const call = open(jobId);
  call.write(lines(5000));
  await eventually(() => intake.space.usedBytes > 0);
  call.destroy();
  await eventually(() => outcomes.length > 0);
  expect(outcomes.pop()).toMatchObject({ code: 'invalid_request', message: expect.stringContaining('broke off') });
  expect(await intake.rows(jobId)).toEqual([]);
  expect(await intake.leftovers()).toEqual(NOTHING_LEFT);
});

test('a body refused at its start is answered on its connection while it is still being sent', async () => {
  const call = open(await intake.newJob());
  const answered = once(call, 'response') as Promise<[IncomingMessage]>;
  const utf16 = Buffer.from(`\uFEFF${lines(5000)}`, 'utf16le');
  call.write(utf16.subarray(0, 1_000_000));
  const [response] = await answered;
  expect(JSON.parse((await response.toArray()).join('')).message).toContain('UTF-16');
  call.end(utf16.subarray(1_000_000));
  outcomes.length = 0;
});

test('a manifest sent in small pieces over a slow connection holds no database connection meanwhile', async () => {
  const jobId = await intake.newJob();
  const call = open(jobId);
  const answered = once(call, 'response') as Promise<[IncomingMessage]>;
  const bytes = Buffer.from(lines(300));
  for (let start = 0; start < bytes.length; start += 1000) {
    await new Promise((sent) => call.write(bytes.subarray(start, start + 1000), sent));
  }
  await eventually(() => intake.db.pool.totalCount > 0 && intake.db.pool.idleCount === intake.db.pool.totalCount);
  call.end();
  const [response] = await answered;
  expect(JSON.parse((await response.toArray()).join(''))).toEqual({ accepted: 300, duplicates: 0, total: 300 });
});
