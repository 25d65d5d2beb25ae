import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { CreateJob } from '../../contracts/create-job.ts';
import { AppendItems } from '../../contracts/item.ts';
import { ticketJob, ticketLines } from './ticket-job.ts';
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

test('make a job and items as the contract has them', async () => {
  expect(CreateJob.parse(ticketJob(1200)).execution?.max_items_per_shard).toBe(200);
  const lines = (await text(ticketLines(TICKETS, false))).trimEnd().split('\n');
  expect(lines.map((line) => Item.parse(JSON.parse(line)).custom_id)).toEqual(TICKETS.map(({ id }) => id));
});

test('tell the answer to a simulator alone', async () => {
  expect(await text(ticketLines(TICKETS.slice(0, 1), true))).toContain('[[sim:text={');
  expect(await text(ticketLines(TICKETS, false))).not.toContain('[[sim:');
});
