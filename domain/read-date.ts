import type { Reading } from './read-decimal.ts';

/** Which part of a date such as 03/04/2026 comes first. */
export type DateOrder = 'day_first' | 'month_first';

const LOCALES = ['en', 'de', 'fr', 'es', 'it', 'nl', 'pt'];
const MAX_LENGTH = 60;

const NOT_A_DATE: Reading<never> = { ok: false, reason: 'is not a date; write it as YYYY-MM-DD' };
const AMBIGUOUS: Reading<never> = {
  ok: false,
  reason: 'is ambiguous: day and month may be either way round; write it as YYYY-MM-DD',
};
const SHORT_YEAR: Reading<never> = { ok: false, reason: 'has a year of two digits; write it as YYYY-MM-DD' };

const MONTHS = namesOf('month', (index) => Date.UTC(2026, index, 15), 12);
/** The first of June 2026 is a Monday. */
const WEEKDAYS = namesOf('weekday', (index) => Date.UTC(2026, 5, 1 + index), 7);

const ISO = /^(\d{4})([-/.])(\d{1,2})\2(\d{1,2})$/;
/** A time of day behind a date, with a zone or without. */
const TIME =
  /(?:t|,? (?:at |um |à |alle |a las |às |om )?)\d{1,2}[:h]\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?[ap]\.?m\.?| uhr)?(?: ?(?:z|utc|gmt|[+-]\d{2}:?\d{2}))?$/i;
/** The same as ISO 8601 writes it without separators. */
const COMPACT_TIME = /(?<=^\d{8})T\d{4}(?:\d{2})?(?:[.,]\d+)?(?:Z|[+-]\d{4})?$/;
const COMPACT = /^(\d{4})(\d{2})(\d{2})$/;
const NUMERIC = /^(\d{1,2}) ?([./-]) ?(\d{1,2}) ?\2 ?(\d{4}|\d{2})$/;
const DAY_NAME_YEAR = /^(\d{1,2})(?:st|nd|rd|th|er|\.)?[ -]?(?:of |de )?([a-z]{3,12})\.?,?[ -]?(?:de )?(\d{4})$/;
const NAME_DAY_YEAR = /^([a-z]{3,12})\.?[ -]?(\d{1,2})(?:st|nd|rd|th)?(?:, ?|[ -])(\d{4})$/;
const YEAR_NAME_DAY = /^(\d{4})[ -]([a-z]{3,12})\.?[ -](\d{1,2})$/;

/**
 * A day as people write it, as YYYY-MM-DD. Read are ISO 8601 (a time after it is left out), the year first with any
 * separator, and month names in English, German, French, Spanish, Italian, Dutch and Portuguese. A numeric date of which
 * day and month may change places is read by `order`, and refused without one; so is a year of two digits, always.
 */
export function readDate(text: string, order: DateOrder | null): Reading<string> {
  if (text.length > MAX_LENGTH) return NOT_A_DATE;
  const day = text.trim().replace(/\s+/gu, ' ').replace(TIME, '').replace(COMPACT_TIME, '');
  const yearFirst = ISO.exec(day) ?? COMPACT.exec(day);
  if (yearFirst !== null) return toDay(yearFirst[1], yearFirst.at(-2), yearFirst.at(-1));
  const folded = fold(day);
  const read = readFolded(folded, order);
  // Only now: `mar` is March, and Tuesday in three languages.
  return read.ok ? read : readFolded(withoutWeekday(folded), order);
}

function readFolded(folded: string, order: DateOrder | null): Reading<string> {
  const numeric = NUMERIC.exec(folded);
  if (numeric !== null) return readNumeric(numeric[1], numeric[3], numeric[4] ?? '', order);
  const dayFirst = DAY_NAME_YEAR.exec(folded);
  if (dayFirst !== null) return toDay(dayFirst[3], MONTHS.get(dayFirst[2] ?? ''), dayFirst[1]);
  const nameFirst = NAME_DAY_YEAR.exec(folded);
  if (nameFirst !== null) return toDay(nameFirst[3], MONTHS.get(nameFirst[1] ?? ''), nameFirst[2]);
  const named = YEAR_NAME_DAY.exec(folded);
  return named === null ? NOT_A_DATE : toDay(named[1], MONTHS.get(named[2] ?? ''), named[3]);
}

/** The order that a column's description names: `DD/MM/YYYY`, `d.m.y`, `month first` and the like; null for none or both. */
export function dateOrderOf(description: string | null): DateOrder | null {
  const said = description ?? '';
  const isDayFirst = /\bd{1,2}\s?[./-]\s?m{1,2}\b|\bday[ -]first\b/i.test(said);
  const isMonthFirst = /\bm{1,2}\s?[./-]\s?d{1,2}\b|\bmonth[ -]first\b/i.test(
    said.replace(/y{2,4}\s?[./-]\s?m{1,2}\s?[./-]\s?d{1,2}/gi, ''),
  );
  if (isDayFirst === isMonthFirst) return null;
  return isDayFirst ? 'day_first' : 'month_first';
}

function readNumeric(
  first: string | undefined,
  second: string | undefined,
  year: string,
  order: DateOrder | null,
): Reading<string> {
  if (year.length === 2) return SHORT_YEAR;
  const dayFirst = toDay(year, second, first);
  const monthFirst = toDay(year, first, second);
  if (order !== null) return order === 'day_first' ? dayFirst : monthFirst;
  if (!dayFirst.ok) return monthFirst;
  return monthFirst.ok && monthFirst.value !== dayFirst.value ? AMBIGUOUS : dayFirst;
}

function toDay(year: string | undefined, month: string | number | undefined, day: string | undefined): Reading<string> {
  const [years, months, days] = [Number(year), Number(month), Number(day)];
  const date = new Date(0);
  date.setUTCFullYear(years, months - 1, days);
  const isReal = years > 0 && date.getUTCMonth() === months - 1 && date.getUTCDate() === days;
  return isReal ? { ok: true, value: date.toISOString().slice(0, 10) } : NOT_A_DATE;
}

function withoutWeekday(text: string): string {
  const [word = ''] = /^[a-z-]+/.exec(text) ?? [];
  return WEEKDAYS.has(word) ? text.slice(word.length).replace(/^\.?,? ?/, '') : text;
}

/** Lower case without accents and the marks of ordinals (`1º`, which NFKD would make `1o`), one space for any. */
function fold(text: string): string {
  return text.replace(/[º°ª]/g, '').normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().trim().replace(/\s+/gu, ' ');
}

/** The long and short names of every locale, with the number each stands for from 1; without those that stand for two. */
function namesOf(what: 'month' | 'weekday', at: (index: number) => number, count: number): ReadonlyMap<string, number> {
  const names = new Map<string, number>(
    what === 'month'
      ? [
          ['mrz', 3],
          ['sept', 9],
        ]
      : [],
  );
  const twice = new Set<string>();
  for (const locale of LOCALES) {
    for (const width of ['long', 'short'] as const) {
      const format = new Intl.DateTimeFormat(locale, { [what]: width, timeZone: 'UTC' });
      for (let index = 0; index < count; index += 1) {
        const name = fold(format.format(at(index))).replace('.', '');
        if ((names.get(name) ?? index + 1) !== index + 1) twice.add(name);
        names.set(name, index + 1);
      }
    }
  }
  for (const name of twice) names.delete(name);
  return names;
}
