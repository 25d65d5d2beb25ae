import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dateOrderOf, readDate } from './read-date.ts';

test.for([
  '2026-08-19',
  ' 2026-08-19 ',
  '2026-08-19T10:00:00Z',
  '2026-08-19 10:00',
  '2026-08-19 9:30',
  '2026-08-19T10:00:00.123+02:00',
  '20260819T103000Z',
  '20260819T1030',
  '19.08.2026 10:30',
  '19.08.2026, 10:30 Uhr',
  '8/19/2026 10:30 AM',
  '19 August 2026, 10:30',
  'August 19, 2026 at 10:30 p.m.',
  '2026/8/19',
  '2026.08.19',
  '20260819',
  '19.08.2026',
  '19/8/2026',
  '8/19/2026',
  '19 August 2026',
  '19th of August 2026',
  'August 19, 2026',
  'AUG. 19 2026',
  '19-Aug-2026',
  '2026 Aug 19',
  'Wednesday, August 19th, 2026',
  'Mi., 19. August 2026',
  '19 août 2026',
  '19 de agosto de 2026',
  '19 agosto 2026',
  '19 augustus 2026',
])('reads %s', (text) => {
  expect(readDate(text, null)).toEqual({ ok: true, value: '2026-08-19' });
});

test.for([
  ['1er mars 2026', '2026-03-01'],
  ['1º de janeiro de 2026', '2026-01-01'],
  ['1º gennaio 2026', '2026-01-01'],
  ['1° gennaio 2026', '2026-01-01'],
  ['1august 2026', '2026-08-01'],
  ['Mar 3 2026', '2026-03-03'],
  ['mar. 3 marzo 2026', '2026-03-03'],
  ['3. März 2026', '2026-03-03'],
  ['05/05/2026', '2026-05-05'],
  ['29.02.2028', '2028-02-29'],
])('reads %s as %s', ([text = '', day]) => {
  expect(readDate(text, null)).toEqual({ ok: true, value: day });
});

test.for([
  '',
  'soon',
  '2026-02-29',
  '31/04/2026',
  '2026-13-01',
  '0000-01-01',
  '13/13/2026',
  'Smarch 3 2026',
  '3 2026',
  'x'.repeat(61),
])('does not take %s for a date', (text) => {
  expect(readDate(text, null)).toEqual({ ok: false, reason: expect.stringMatching(/^is not a date/) });
});

test('refuses a date of which day and month may change places, unless the order is known', () => {
  const ambiguous = { ok: false, reason: expect.stringMatching(/^is ambiguous/) };
  for (const text of ['03/04/2026', '3.4.2026', '03-04-2026']) {
    expect(readDate(text, null)).toEqual(ambiguous);
    expect(readDate(text, 'day_first')).toEqual({ ok: true, value: '2026-04-03' });
    expect(readDate(text, 'month_first')).toEqual({ ok: true, value: '2026-03-04' });
  }
  expect(readDate('19/08/2026', 'month_first')).toEqual({ ok: false, reason: expect.stringMatching(/^is not a date/) });
});

test('refuses a year of two digits, whatever the order', () => {
  const reason = expect.stringMatching(/^has a year of two digits/);
  expect(readDate('19/08/26', null)).toEqual({ ok: false, reason });
  expect(readDate('19/08/26', 'day_first')).toEqual({ ok: false, reason });
});

test.for([
  [null, null],
  ['The day it was sent', null],
  ['YYYY-MM-DD', null],
  ['as DD/MM/YYYY', 'day_first'],
  ['d.m.yyyy', 'day_first'],
  ['day-first', 'day_first'],
  ['American, mm-dd-yyyy', 'month_first'],
  ['Month first.', 'month_first'],
  ['DD/MM/YYYY or MM/DD/YYYY', null],
] as const)('takes from the description %s the order %s', ([description, order]) => {
  expect(dateOrderOf(description)).toBe(order);
});

test('reads every day back from every way to write it', () => {
  const day = fc.date({ min: new Date('1000-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
  const locale = fc.constantFrom('en-US', 'en-GB', 'de', 'fr', 'es', 'it', 'nl', 'pt');
  fc.assert(
    fc.property(day, locale, fc.constantFrom('long', 'medium', 'full'), (date, named, dateStyle) => {
      const iso = date.toISOString().slice(0, 10);
      const text = new Intl.DateTimeFormat(named, { dateStyle, timeZone: 'UTC' }).format(date);
      // The medium style of some is numeric, which no order is told of here.
      if (/\p{L}/u.test(text)) expect(readDate(text, null)).toEqual({ ok: true, value: iso });
      const [year, month, days] = iso.split('-');
      expect(readDate(`${days}.${month}.${year}`, 'day_first')).toEqual({ ok: true, value: iso });
      expect(readDate(`${month}/${days}/${year}`, 'month_first')).toEqual({ ok: true, value: iso });
    }),
  );
});
