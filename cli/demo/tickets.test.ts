import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { CreateJob } from '../../contracts/create-job.ts';
import { AppendItems } from '../../contracts/item.ts';
import { fakeReady } from '../testing/fake-ready.ts';
import { demoJobs } from './demo-jobs.ts';
import { ticketLines } from './ticket-job.ts';
import { makeTickets } from './tickets.ts';

const Item = AppendItems.shape.items.element;
const TICKETS = makeTickets(1200);

test('are the same each time, and the first ones do not depend on how many there are', () => {
  expect(makeTickets(1200)).toEqual(TICKETS);
  expect(makeTickets(10)).toEqual(TICKETS.slice(0, 10));
});

test('are of every kind, with hardly two alike', () => {
  const categories = new Set(TICKETS.map(({ category }) => category));
  expect(categories.size).toBe(7);
  expect(new Set(TICKETS.map(({ id }) => id)).size).toBe(1200);
  expect(new Set(TICKETS.map(({ subject, body }) => subject + body)).size).toBeGreaterThan(1100);
  expect(TICKETS.filter(({ subject, body }) => /[{}]/.test(subject + body))).toEqual([]);
});

const READY = fakeReady('http://127.0.0.1:8080');
const REAL = { openai_url: null, anthropic_url: null, gemini_url: null, control_url: null };

test('are dealt out to a job on each provider, of items as the contract has them', async () => {
  const jobs = demoJobs(TICKETS, READY);
  for (const { wanted } of jobs) expect(CreateJob.parse(wanted).execution?.max_items_per_shard).toBe(100);
  const dealt = await Promise.all(jobs.map(async (job) => (await text(ticketLines(job))).trimEnd().split('\n')));
  const ids = dealt.flat().map((line) => Item.parse(JSON.parse(line)).custom_id);
  expect(ids.sort()).toEqual(TICKETS.map(({ id }) => id));
});

test('meet with every kind of trouble on the simulated Gemini, and with none elsewhere', async () => {
  const [openai, anthropic, gemini] = await Promise.all(
    demoJobs(TICKETS, READY).map(async (job) => text(ticketLines(job))),
  );
  for (const plain of [openai, anthropic]) expect(plain).not.toMatch(/sim:(error|safety|missing)/);
  for (const mark of ['error=server_error', 'error=rate_limit', 'safety', 'missing']) {
    expect(gemini).toContain(`[[sim:${mark}]]`);
  }
});

test('tell the answer to simulators alone', async () => {
  for (const job of demoJobs(TICKETS.slice(0, 3), READY).slice(0, 2)) {
    expect(await text(ticketLines(job))).toContain('[[sim:text={');
  }
  for (const job of demoJobs(TICKETS, { ...READY, simulators: REAL })) {
    expect(await text(ticketLines(job))).not.toContain('[[sim:');
  }
});
