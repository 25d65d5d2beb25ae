import { ANALYTICS_GROUPS, AnalyticsQuery } from '../../contracts/analytics.ts';
import { ANALYTICS_KINDS, type AnalyticsKind } from '../analytics-call.ts';
import { analyticsCsv, analyticsTables } from '../analytics-table.ts';
import { defineCommand, OPERATOR_OPTIONS, type OptionValues } from '../command.ts';
import { connectOperator, connectTenant } from '../connection.ts';
import { usageError } from '../errors.ts';
import { exitCode } from '../exit-codes.ts';
import { oneOf, readCount, readEndpoint } from '../option-values.ts';
import { printJson } from '../output.ts';

const ALL = 'all';
const MAX_TOP = 100;
const JOB_KINDS = AnalyticsQuery.shape.job_kind.unwrap().options;
const OPTIONS = {
  by: { type: 'string', value: 'NAMES', help: `groups: ${ANALYTICS_GROUPS.join(', ')}, parted by commas; or ${ALL}` },
  from: { type: 'string', value: 'DAY', help: 'the first day (UTC), such as 2026-08-01' },
  to: { type: 'string', value: 'DAY', help: 'the first day after the last' },
  project: { type: 'string', value: 'ID', help: 'of this project alone' },
  customer: { type: 'string', value: 'ID', help: 'of this customer alone' },
  'api-key': { type: 'string', value: 'ID', help: 'of jobs made with this key alone' },
  'job-kind': { type: 'string', value: 'KIND', help: `of ${JOB_KINDS.join(', or of ')} alone` },
  endpoint: { type: 'string', value: 'NAME', help: 'of this endpoint alone' },
  provider: { type: 'string', value: 'NAME', help: 'of this provider alone' },
  model: { type: 'string', value: 'NAME', help: 'of this model alone, as its provider names it' },
  of: { type: 'string', value: 'WHAT', help: 'with durations: jobs, or shards' },
  top: { type: 'string', value: 'N', help: `with failures: codes of each group, 1 to ${MAX_TOP}` },
  everyone: { type: 'boolean', help: 'of all tenants, with the key of an operator' },
  tenant: { type: 'string', value: 'ID', help: 'with --everyone: of this tenant alone' },
  csv: { type: 'boolean', help: 'print CSV' },
  ...OPERATOR_OPTIONS,
} as const;

export const analyticsCommand = defineCommand({
  name: 'analytics',
  summary: 'show what jobs came to: items, costs, tokens, cache, retries, durations, failures',
  arguments: ['KIND'],
  options: OPTIONS,
  details: `KIND is one of ${ANALYTICS_KINDS.join(', ')}. Pending items and held money are of now, whatever the days.`,
  examples: [
    'analytics items --by customer,day --from 2026-08-01 --to 2026-09-01',
    'analytics costs --by model --csv > costs.csv',
    'analytics failures --by customer --top 3',
    'analytics durations --of shards --by provider --everyone',
  ],
  async run({ values, positionals: [given = ''] }, context) {
    const kind = oneOf('KIND', given, ANALYTICS_KINDS);
    refuseMisplaced(values, kind);
    const calls = values.everyone ? connectOperator(values, context) : connectTenant(values, context);
    const answer = await calls.analytics(kind, {
      group_by: readGroups(values.by),
      from: readDay('--from', values.from),
      to: readDay('--to', values.to),
      tenant_id: values.tenant,
      project_id: values.project,
      customer_id: values.customer,
      api_key_id: values['api-key'],
      job_kind: values['job-kind'] === undefined ? undefined : oneOf('--job-kind', values['job-kind'], JOB_KINDS),
      endpoint: readEndpoint(values.endpoint),
      provider: values.provider,
      model: values.model,
      of: values.of === undefined ? undefined : oneOf('--of', values.of, ['jobs', 'shards']),
      top: values.top === undefined ? undefined : readCount('--top', values.top, 1, MAX_TOP),
    });
    if (values.json) printJson(context, answer);
    else context.terminal.out.write(values.csv ? analyticsCsv(answer) : analyticsTables(context, answer));
    return exitCode('ok');
  },
});

function refuseMisplaced(values: OptionValues<typeof OPTIONS>, kind: AnalyticsKind): void {
  if (values.of !== undefined && kind !== 'durations') throw usageError('--of goes with durations.', '--of');
  if (values.top !== undefined && kind !== 'failures') throw usageError('--top goes with failures.', '--top');
  if (values.tenant !== undefined && !values.everyone) throw usageError('--tenant goes with --everyone.', '--tenant');
}

/** Absent is the gateway's own choice; `all` is one sum. */
function readGroups(given: string | undefined): string | undefined {
  if (given === undefined) return undefined;
  if (given === ALL) return '';
  return given
    .split(',')
    .map((name) => oneOf('--by', name, ANALYTICS_GROUPS))
    .join(',');
}

function readDay(option: string, given: string | undefined): string | undefined {
  if (given === undefined || (/^\d{4}-\d{2}-\d{2}$/.test(given) && !Number.isNaN(Date.parse(given)))) return given;
  throw usageError(`${option} must be a day such as 2026-08-01.`, option);
}
