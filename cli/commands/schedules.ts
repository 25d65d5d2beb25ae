import { type BatchSchedule, CreateSchedule } from '../../contracts/batch-schedule.ts';
import { CONNECTION_OPTIONS, type Context, defineCommand } from '../command.ts';
import { connectTenant } from '../connection.ts';
import { usageError } from '../errors.ts';
import { exitCode } from '../exit-codes.ts';
import type { TenantCalls } from '../gateway.ts';
import { readJsonFile } from '../json-file.ts';
import { oneOf } from '../option-values.ts';
import { type Column, printJson, table } from '../output.ts';

const ACTIONS = ['list', 'create', 'pause', 'resume', 'run', 'delete'] as const;
type Action = (typeof ACTIONS)[number];

const LIST_LIMIT = 100;

const COLUMNS: readonly Column<BatchSchedule>[] = [
  { title: 'SCHEDULE', cell: ({ schedule_id: id }) => id },
  { title: 'NAME', cell: ({ name }) => name, maxWidth: 30 },
  { title: 'WHEN', cell: ({ schedule }) => whenText(schedule), maxWidth: 40 },
  { title: 'NEXT', cell: ({ paused, next_runs: next }) => (paused ? 'paused' : next?.[0]) },
  { title: 'LAST', cell: ({ runs }) => runs[0]?.outcome ?? (runs[0] === undefined ? null : 'under way') },
  { title: 'LAST JOB', cell: ({ runs }) => runs[0]?.job_id },
];

export const schedulesCommand = defineCommand({
  name: 'schedules',
  summary: 'make jobs again and again: list, create, pause, resume, run now or delete',
  arguments: ['ACTION', '[WHAT]'],
  options: CONNECTION_OPTIONS,
  details:
    'ACTION is list, create, pause, resume, run or delete. WHAT is the schedule, or for create a JSON file (- is standard ' +
    'input) such as {"name": "nightly", "schedule": {"cron": "0 2 * * *", "time_zone": "Europe/Berlin"}, "job": ' +
    '{"endpoint": "chat.completions", "model": "analysis-small"}, "items": {"manifest_of_job": "job_…"}}.\n' +
    'Items come from another job, or with items_url from an https address that is fetched at each run.',
  examples: [
    'schedules list',
    'schedules create nightly.json',
    'schedules pause sched_01j7zb8k3te9aabfm0z0e2d3k4',
    'schedules run sched_01j7zb8k3te9aabfm0z0e2d3k4',
  ],
  async run({ values, positionals: [given = '', what] }, context) {
    const action = oneOf('ACTION', given, ACTIONS);
    if (action === 'list' && what !== undefined) throw usageError('schedules list takes no further argument.', 'WHAT');
    if (action !== 'list' && what === undefined)
      throw usageError(`schedules ${action} needs ${action === 'create' ? 'a JSON file' : 'a schedule'}.`, 'WHAT');
    const calls = connectTenant(values, context);
    const answer = await act(calls, action, what ?? '', context);
    if (values.json) printJson(context, answer.json);
    else context.terminal.out.write(answer.text);
    return exitCode('ok');
  },
});

interface Told {
  readonly json: unknown;
  readonly text: string;
}

async function act(calls: TenantCalls, action: Action, what: string, context: Context): Promise<Told> {
  switch (action) {
    case 'list': {
      const page = await calls.listSchedules({ limit: String(LIST_LIMIT) });
      const text = page.data.length === 0 ? 'There is no schedule.\n' : table(context, COLUMNS, page.data);
      return { json: page, text };
    }
    case 'create': {
      const schedule = await calls.createSchedule(readSchedule(await readJsonFile(what, context)));
      return { json: schedule, text: `${schedule.schedule_id} is made; it runs next at ${nextText(schedule)}.\n` };
    }
    case 'pause':
    case 'resume': {
      const schedule = await calls.changeSchedule(what, { paused: action === 'pause' });
      const state = schedule.paused ? 'is paused' : `runs next at ${nextText(schedule)}`;
      return { json: schedule, text: `${what} ${state}.\n` };
    }
    case 'run':
      return { json: await calls.runSchedule(what), text: `${what} fires now; "schedules list" shows its run.\n` };
    case 'delete':
      await calls.deleteSchedule(what);
      return { json: { schedule_id: what, deleted: true }, text: `${what} is deleted; its jobs stay.\n` };
  }
}

/** The gateway judges it too; here a slip costs no call. */
function readSchedule(content: unknown): CreateSchedule {
  const read = CreateSchedule.safeParse(content);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw usageError(`The schedule is not valid: ${issue?.path.join('.') || 'it'}: ${issue?.message ?? ''}.`, 'WHAT');
}

function nextText({ next_runs: next }: BatchSchedule): string {
  return next?.[0] ?? 'a time that cannot be told now';
}

function whenText(schedule: BatchSchedule['schedule']): string {
  const { cron, every_seconds: every, calendar, time_zone: timeZone } = schedule as Record<string, unknown>;
  const zone = typeof timeZone === 'string' ? ` ${timeZone}` : '';
  if (typeof cron === 'string') return `${cron}${zone}`;
  return typeof every === 'number' ? `every ${every} s` : `${JSON.stringify(calendar)}${zone}`;
}
