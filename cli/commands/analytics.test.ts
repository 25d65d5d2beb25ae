import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { runCli } from '../testing/run-cli.ts';

const ENVELOPE = { from: null, to: null, as_of: '2026-08-19T10:00:00.000Z' };
const STAGE = { mean_ms: 61_000, p95_ms: 90_000 };
const ANSWERS: { readonly [kind: string]: object } = {
  costs: {
    data: [
      {
        group: { customer: '=cust', model: null },
        currency: 'USD',
        settled: '1234.50',
        refunded: '0.00',
        adjusted: '-1.00',
        held: '0.00',
        ended_jobs: 2,
        estimated: '1000.00',
        ended_settled: '1234.50',
        error: '234.50',
        error_ratio: 0.234,
      },
    ],
    ...ENVELOPE,
  },
  durations: { data: [{ group: {}, ended: 1200, queued: STAGE, running: STAGE, finalizing: STAGE }], ...ENVELOPE },
  failures: {
    data: [{ group: { model: 'm' }, class: 'rate_limited', code: 'rate_limited', items: 7 }],
    refusals: [{ group: { model: 'alias' }, code: 'model_unknown', submissions: 2, items: 0 }],
    ...ENVELOPE,
  },
  items: { data: [], ...ENVELOPE },
};

const calls: string[] = [];
let url = '';
let close: () => Promise<void> = async () => undefined;

beforeAll(async () => {
  const app = new Hono();
  app.get('/v1/analytics/:kind', (c) => {
    const { pathname, search } = new URL(c.req.url);
    calls.push(`${c.req.header('authorization')} ${pathname}${decodeURIComponent(search)}`);
    return c.json(ANSWERS[c.req.param('kind')] ?? {});
  });
  const { promise, resolve } = Promise.withResolvers<number>();
  const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => resolve(port));
  close = () => new Promise((done) => server.close(() => done()));
  url = `http://127.0.0.1:${await promise}`;
});
afterAll(() => close());
beforeEach(() => {
  calls.length = 0;
});

function run(...args: string[]) {
  const environment = { BATCHGATE_URL: url, BATCHGATE_KEY: 'tenant', BATCHGATE_OPERATOR_KEY: 'operator' };
  return runCli(['analytics', ...args], { environment });
}

test('figures are shown in a table, with parts of one as percentages', async () => {
  const { code, out } = await run('costs', '--by', 'customer,model', '--from', '2026-08-01', '--customer', 'c');
  expect(code).toBe(0);
  const [head, row] = out.split('\n').map((line) => line.split(/ {2,}/));
  expect(head?.slice(0, 4)).toEqual(['CUSTOMER', 'MODEL', 'CURRENCY', 'SETTLED']);
  expect(row?.map((cell) => cell.trim())).toEqual([
    '=cust',
    '-',
    'USD',
    '1234.50',
    '0.00',
    '-1.00',
    '0.00',
    '2',
    '1000.00',
    '1234.50',
    '234.50',
    '23.4 %',
  ]);
  expect(calls).toEqual(['Bearer tenant /v1/analytics/costs?group_by=customer,model&from=2026-08-01&customer_id=c']);
});

test('durations are readable, and exact as JSON', async () => {
  expect((await run('durations', '--of', 'shards')).out).toMatch(
    /ENDED +QUEUED MEAN +QUEUED P95.*\n1,200 +1 min 1 s +1 min 30 s/,
  );
  expect(JSON.parse((await run('durations', '--json')).out)).toEqual(ANSWERS['durations']);
});

test('failures of items and refusals have a table each, and share one CSV', async () => {
  expect((await run('failures')).out).toMatch(
    /^Items that did not complete:\nMODEL.*\n.*\n\nRefused submissions:\nMODEL/,
  );
  expect((await run('failures', '--csv')).out.split('\r\n')).toEqual([
    'part,model,class,code,items,submissions',
    'data,m,rate_limited,rate_limited,7,',
    'refusals,alias,,model_unknown,0,2',
    '',
  ]);
});

test('a text that a spreadsheet would run is not one in CSV', async () => {
  expect((await run('costs', '--csv')).out).toContain("\r\n'=cust,,USD,1234.50");
});

test('an operator asks about everyone, and --by all is one sum', async () => {
  const { out } = await run('items', '--everyone', '--tenant', 'tenant_1', '--by', 'all');
  expect(out).toBe('There is nothing to show.\n');
  expect(calls).toEqual(['Bearer operator /v1/analytics/items?group_by=&tenant_id=tenant_1']);
});

test.each([
  [['cost'], 'KIND "cost" is not known. Did you mean costs?'],
  [['costs', '--by', 'modle'], '--by "modle" is not known. Did you mean model?'],
  [['costs', '--from', 'today'], '--from must be a day such as 2026-08-01.'],
  [['costs', '--top', '3'], '--top goes with failures.'],
  [['items', '--of', 'jobs'], '--of goes with durations.'],
  [['items', '--tenant', 'x'], '--tenant goes with --everyone.'],
])('%j is refused', async (args, message) => {
  const { code, err } = await run(...args);
  expect([code, err]).toEqual([2, `error: ${message}\n`]);
});
