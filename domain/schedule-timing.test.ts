import { expect, test } from 'vitest';
import { findCronFault, isTimeZone } from './schedule-timing.ts';

test.each([
  '0 2 * * *',
  '*/15 8-18 * * mon-fri',
  '0,30 0 1 JAN,jul *',
  '5 4 31 12 7',
  '59 23 1-7/2 * 0',
  '  0   2 * * *  ',
])('the cron expression %j is taken', (cron) => {
  expect(findCronFault(cron)).toBeNull();
});

test.each([
  ['', 'five fields'],
  ['0 2 * *', 'five fields'],
  ['0 0 2 * * *', 'five fields'],
  ['@daily', 'five fields'],
  ['CRON_TZ=Asia/Tokyo 0 2 * * *', 'five fields'],
  ['60 2 * * *', 'minute'],
  ['-1 2 * * *', 'minute'],
  ['*/0 2 * * *', 'minute'],
  ['1,, 2 * * *', 'minute'],
  ['0 24 * * *', 'hour'],
  ['0 5-3 * * *', 'hour'],
  ['0 2 0 * *', 'day of month'],
  ['0 2 * 13 *', 'month'],
  ['0 2 * sep-foo *', 'month'],
  ['0 2 * * 8', 'day of week'],
  ['0 2 * * ?', 'day of week'],
])('the cron expression %j is refused for its %s', (cron, part) => {
  expect(findCronFault(cron)).toContain(part);
});

test.each([
  ['UTC', true],
  ['Europe/Berlin', true],
  ['America/New_York', true],
  ['Mars/Olympus', false],
  ['+02:00', false],
  ['', false],
])('%j as a time zone: %s', (name, expected) => {
  expect(isTimeZone(name)).toBe(expected);
});
