import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { JobStorage } from '../../contracts/job-storage.ts';
import { runCli } from '../testing/run-cli.ts';

const STORAGE: JobStorage = {
  job_id: 'job_1',
  storage: 'pointers',
  kept: [
    { kind: 'requests', held_by: 'gateway', until: '2026-08-19T10:00:00.000Z', deleted_at: '2026-08-19T10:00:01.000Z' },
    { kind: 'provider_files', held_by: 'openai', until: '2026-09-18T10:00:00.000Z', deleted_at: null },
  ],
  raw_input_stored: false,
  raw_output_stored: false,
  artifact_location: null,
  raw_output_note: 'policy',
  results_readable_until: '2026-09-18T10:00:00.000Z',
  provider_retrieval_deadline: '2026-09-18T10:00:00.000Z',
  gateway_deletion_deadline: null,
  request_body_deleted_at: '2026-08-19T10:00:01.000Z',
  content_deleted_at: null,
  provider_files_deleted_at: null,
  hashes: { requests: 50_000, responses: 49_990 },
};

let url: string;
let close: () => Promise<void>;
beforeEach(async () => {
  const app = new Hono();
  app.get('/v1/batch-jobs/job_1/storage', (c) => c.json(STORAGE));
  const { promise: port, resolve } = Promise.withResolvers<number>();
  const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, (info) => resolve(info.port));
  url = `http://127.0.0.1:${await port}`;
  close = () => new Promise((done) => server.close(() => done()));
});
afterEach(() => close());

const run = (...args: string[]) => runCli(args, { environment: { BATCHGATE_URL: url, BATCHGATE_KEY: 'tenant' } });

test('storage shows what is kept by whom and until when, or all of it as JSON', async () => {
  const { code, out } = await run('storage', 'job_1');
  expect(code).toBe(0);
  expect(out).toContain('50,000 of requests, 49,990 of responses');
  const cells = out.split('\n').map((line) => line.split(/ {2,}/));
  expect(cells).toContainEqual(['requests', 'gateway', '2026-08-19 10:00:00Z', '2026-08-19 10:00:01Z']);
  expect(cells).toContainEqual(['provider files', 'openai', '2026-09-18 10:00:00Z', '-']);
  expect(JSON.parse((await run('storage', 'job_1', '--json')).out)).toEqual(STORAGE);
});
