/** First day of total budgets. */
export const TOTAL_START = '1970-01-01';

/**
 * SQL of the first day of a budget's period, a date: the tenant's own month, or `TOTAL_START`. The month is that of the
 * wall clock in the tenant's time zone, so a change to summer time moves no boundary.
 */
export function periodStartOf(period: string, at: string, timeZone: string): string {
  return `CASE ${period} WHEN 'month' THEN date_trunc('month', ${at}::timestamptz AT TIME ZONE ${timeZone})::date ELSE DATE '${TOTAL_START}' END`;
}
