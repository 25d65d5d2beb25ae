import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { runCli } from '../testing/run-cli.ts';

/** More than a stream holds at once. */
const ROWS = 20_000;
const SUM = { group: { model: 'm' }, cost: '1.00', upstream_amount: '1.00', customer_amount: null, currency: 'USD' };
const COUNTS = ['items', 'completed', 'failed', 'expired', 'cancelled', 'usage_estimated_items'];
const TOKENS = ['input', 'cached_input', 'cache_write', 'output', 'reasoning'].map((name) => `${name}_tokens`);
const GROUP = { ...SUM, ...Object.fromEntries([...COUNTS, ...TOKENS].map((name) => [name, 1])) };

let folder: string;
let url: string;
let close: () => Promise<void>;
let breaksOff = false;
const asked: string[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'usage-'));
  const app = new Hono();
  app.get('*', (c) => {
    const { pathname, search, searchParams } = new URL(c.req.url);
    asked.push(pathname + search);
    if (searchParams.get('format') === 'json') {
      const next = searchParams.has('cursor') ? null : 'more';
      return c.json({ data: [GROUP], next_cursor: next, next_since: next === null ? 'later' : 'first' });
    }
    let row = 0;
    const body = new ReadableStream({
      pull(controller) {
        if (row === ROWS) controller.close();
        else if (breaksOff && row === 10) controller.error(new Error('gone'));
        else {
          controller.enqueue(new TextEncoder().encode(`é${row}\r\n`));
          row += 1;
        }
      },
    });
    return c.body(body, 200, searchParams.has('since') ? { 'Usage-Next-Since': 'mark_2' } : {});
  });
  const { promise: port, resolve } = Promise.withResolvers<number>();
  const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, (info) => resolve(info.port));
  url = `http://127.0.0.1:${await port}`;
  close = () => new Promise((done) => server.close(() => done()));
});
afterAll(async () => {
  await close();
  await rm(folder, { recursive: true });
});
beforeEach(() => {
  breaksOff = false;
  asked.length = 0;
});

function run(...args: string[]) {
  return runCli(['usage', ...args, '--url', url, '--key', 'tenant']);
}

test.each(['csv', 'ndjson', 'focus'])('%s is what the gateway streams, put whole into a file', async (format) => {
  const file = join(folder, `usage.${format}`);
  const ended = await run('--format', format, '--level', 'item', '--out', file);
  expect(ended).toEqual({ code: 0, out: '', err: '' });
  expect(asked).toEqual([`/v1/usage?level=item&format=${format}`]);
  const lines = (await readFile(file, 'utf8')).split('\r\n');
  expect([lines.length, lines.at(-2)]).toEqual([ROWS + 1, `é${ROWS - 1}`]);
});

test('one job is exported the same way, to standard output', async () => {
  const { code, out } = await run('job_1', '--format', 'focus');
  expect([code, out.length]).toEqual([0, (await run('job_1', '--json')).out.length]);
  expect(asked).toEqual(['/v1/batch-jobs/job_1/usage?format=focus', '/v1/batch-jobs/job_1/usage?format=ndjson']);
});

test('a read since another tells the mark for the next, of its first page', async () => {
  expect((await run('--since', 'start', '--format', 'csv', '--out', join(folder, 'since.csv'))).err).toBe(
    'next read: --since mark_2\n',
  );
  const { out, err } = await run('--since', 'start', '--group-by', 'model', '--format', 'json');
  expect(JSON.parse(out).data).toHaveLength(2);
  expect(err).toBe('next read: --since first\n');
});

test('a stream that breaks off leaves no file', async () => {
  breaksOff = true;
  const { code } = await run('--format', 'csv', '--out', join(folder, 'broken.csv'));
  expect(code).not.toBe(0);
  expect((await readdir(folder)).filter((name) => name.includes('broken'))).toEqual([]);
});
