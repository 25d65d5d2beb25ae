import type pg from 'pg';

/** First day of total budgets. */
export const TOTAL_START = '1970-01-01';

/**
 * SQL of the first day of a budget's period, a date: the tenant's own month, or `TOTAL_START`. The month is that of the
 * wall clock in the tenant's time zone, so a change to summer time moves no boundary.
 */
export function periodStartOf(period: string, at: string, timeZone: string): string {
  return `CASE ${period} WHEN 'month' THEN date_trunc('month', ${at}::timestamptz AT TIME ZONE ${timeZone})::date ELSE DATE '${TOTAL_START}' END`;
}

/** First day of the period that is current for a tenant, YYYY-MM-DD. Throws for an unknown tenant. */
export async function currentPeriodStart(
  db: Pick<pg.ClientBase, 'query'>,
  { tenantId, period }: { readonly tenantId: string; readonly period: 'total' | 'month' },
  at: Date,
): Promise<string> {
  const { rows } = await db.query<{ period_start: string }>(
    `SELECT to_char(${periodStartOf('$2::text', '$3', 'time_zone')}, 'YYYY-MM-DD') AS period_start
     FROM tenants WHERE tenant_id = $1`,
    [tenantId, period, at],
  );
  if (rows[0] === undefined) throw new Error(`no tenant ${tenantId}`);
  return rows[0].period_start;
}
