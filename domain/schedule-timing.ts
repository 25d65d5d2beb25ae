/** When a recurring job is made: one of `cron`, `every_seconds` and `calendar`, as its owner gave it and as it is stored. */
export interface ScheduleTiming {
  readonly cron?: string | undefined;
  readonly every_seconds?: number | undefined;
  readonly calendar?: ScheduleCalendar | undefined;
  /** IANA name; UTC where absent. Of no meaning to `every_seconds`. */
  readonly time_zone?: string | undefined;
}

/** Local times at which all of its lists hold. An absent list is minute 0, hour 0, any day and any month. */
export interface ScheduleCalendar {
  readonly minutes?: readonly number[] | undefined;
  readonly hours?: readonly number[] | undefined;
  readonly days_of_month?: readonly number[] | undefined;
  /** 1 is January. */
  readonly months?: readonly number[] | undefined;
  readonly days_of_week?: readonly Weekday[] | undefined;
}

export const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const;
export type Weekday = (typeof WEEKDAYS)[number];

const MONTH_NAMES = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

interface CronField {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** Three-letter names of the values from `min` on. */
  readonly names?: readonly string[];
}

const CRON_FIELDS: readonly CronField[] = [
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day of month', min: 1, max: 31 },
  { name: 'month', min: 1, max: 12, names: MONTH_NAMES },
  { name: 'day of week', min: 0, max: 7, names: WEEKDAYS.map((day) => day.slice(0, 3)) },
];

/** What is wrong with a cron expression of five fields (lists, ranges and steps); null when nothing is. */
export function findCronFault(cron: string): string | null {
  const fields = cron.trim().split(/ +/);
  if (fields.length !== CRON_FIELDS.length)
    return 'must have five fields: minute, hour, day of month, month and day of week';
  for (const [index, field] of CRON_FIELDS.entries()) {
    const isFine = (fields[index] ?? '').split(',').every((part) => isCronPart(part, field));
    if (!isFine) return `has no valid ${field.name}`;
  }
  return null;
}

const CRON_PART = /^(?:\*|(?<from>\w{1,3})(?:-(?<to>\w{1,3}))?)(?:\/(?<step>\d{1,2}))?$/;

function isCronPart(part: string, field: CronField): boolean {
  const groups = CRON_PART.exec(part)?.groups;
  if (groups === undefined) return false;
  const { from, to, step } = groups;
  if (step !== undefined && Number(step) < 1) return false;
  if (from === undefined) return true;
  const first = cronValue(from, field);
  const last = to === undefined ? first : cronValue(to, field);
  return first !== null && last !== null && first <= last;
}

function cronValue(text: string, { min, max, names = [] }: CronField): number | null {
  const named = names.indexOf(text.toLowerCase());
  if (named >= 0) return min + named;
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max ? value : null;
}

/** Whether the runtime knows the IANA name. Offsets, such as +02:00, are none. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
