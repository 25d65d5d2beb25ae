import { z } from 'zod';
import { findCronFault, isTimeZone, WEEKDAYS } from '../domain/schedule-timing.ts';
import { CreateJob } from './create-job.ts';
import { JobStatus } from './job.ts';
import { NextCursor, PageQuery } from './pagination.ts';
import { plainText, Timestamp, uniqueList } from './text.ts';

const MIN_EVERY_SECONDS = 60;
const MAX_EVERY_SECONDS = 366 * 24 * 3_600;
const MIN_DEADLINE_SECONDS = 60;
const MAX_DEADLINE_SECONDS = 60 * 24 * 3_600;
const MAX_URL_LENGTH = 2_000;

export const ScheduleId = z
  .string()
  .meta({ description: 'A schedule id.', example: 'sched_01j7zb8k3te9aabfm0z0e2d3k4' });

const wholeNumbers = (min: number, max: number) => uniqueList(z.int().min(min).max(max), { max: max - min + 1 });

const Calendar = z
  .strictObject({
    minutes: wholeNumbers(0, 59).optional(),
    hours: wholeNumbers(0, 23).optional(),
    days_of_month: wholeNumbers(1, 31).optional(),
    months: wholeNumbers(1, 12).optional(),
    days_of_week: uniqueList(z.enum(WEEKDAYS), { max: WEEKDAYS.length }).optional(),
  })
  .meta({ description: 'Times at which all lists hold. An absent list is minute 0, hour 0, any day and any month.' });

const Timing = z
  .strictObject({
    cron: z
      .string()
      .max(200)
      .superRefine((cron, context) => {
        const fault = findCronFault(cron);
        if (fault !== null) context.addIssue({ code: 'custom', message: fault });
      })
      .optional()
      .meta({ description: 'Five fields: minute, hour, day of month, month, day of week.', example: '0 2 * * *' }),
    every_seconds: z.int().min(MIN_EVERY_SECONDS).max(MAX_EVERY_SECONDS).optional(),
    calendar: Calendar.optional(),
    time_zone: z
      .string()
      .refine(isTimeZone, 'must be an IANA time zone, such as Europe/Berlin')
      .optional()
      .meta({ description: 'Of `cron` and `calendar`; UTC where absent.', example: 'Europe/Berlin' }),
  })
  .superRefine(({ cron, every_seconds: every, calendar, time_zone: timeZone }, context) => {
    if ([cron, every, calendar].filter((given) => given !== undefined).length !== 1)
      context.addIssue({ code: 'custom', message: 'must have one of cron, every_seconds and calendar' });
    if (every !== undefined && timeZone !== undefined)
      context.addIssue({ code: 'custom', path: ['time_zone'], message: 'means nothing to every_seconds' });
  })
  .meta({ id: 'BatchScheduleTiming', description: 'When a job is made.' });

const Items = z
  .strictObject({
    manifest_of_job: z.string().min(1).max(100).optional().meta({ description: 'A job whose items are copied.' }),
    items_url: z
      .url()
      .max(MAX_URL_LENGTH)
      .optional()
      .meta({ description: 'NDJSON, fetched anew at each run: https, no redirects, no private addresses.' }),
  })
  .superRefine(({ manifest_of_job: job, items_url: url }, context) => {
    if ((job === undefined) === (url === undefined))
      context.addIssue({ code: 'custom', message: 'must have one of manifest_of_job and items_url' });
  })
  .meta({ description: 'Where each job gets its items from.' });

/** A job's own times would mean one run only. */
const Template = CreateJob.superRefine(({ execution }, context) => {
  for (const field of ['deadline', 'not_before'] as const) {
    if (execution?.[field] === undefined) continue;
    const message = 'is one point in time; a schedule has deadline_after_seconds';
    context.addIssue({ code: 'custom', path: ['execution', field], message });
  }
});

const DeadlineAfter = z.int().min(MIN_DEADLINE_SECONDS).max(MAX_DEADLINE_SECONDS).nullable().meta({
  description: 'The deadline of each job, counted from the time it was scheduled for.',
});

export const CreateSchedule = z
  .strictObject({
    name: plainText(200),
    schedule: Timing,
    job: Template.meta({ description: 'What each job is made with: the body of create_job.' }),
    items: Items,
    submit: z.boolean().default(true).meta({ description: 'False leaves each job a draft.' }),
    overlap: z.enum(['skip', 'allow']).default('skip').meta({
      description: '`skip` makes no job while one of the schedule still runs.',
    }),
    deadline_after_seconds: DeadlineAfter.optional(),
    paused: z.boolean().default(false),
  })
  .meta({ id: 'CreateBatchSchedule' });
export type CreateSchedule = z.infer<typeof CreateSchedule>;

export const UpdateSchedule = z
  .strictObject({
    name: plainText(200).optional(),
    schedule: Timing.optional(),
    submit: z.boolean().optional(),
    overlap: z.enum(['skip', 'allow']).optional(),
    deadline_after_seconds: DeadlineAfter.optional(),
    paused: z.boolean().optional(),
  })
  .meta({ id: 'UpdateBatchSchedule', description: 'A field that is left out stays as it is.' });
export type UpdateSchedule = z.infer<typeof UpdateSchedule>;

const Run = z
  .object({
    scheduled_for: Timestamp,
    started_at: Timestamp,
    ended_at: Timestamp.nullable(),
    job_id: z.string().nullable(),
    job_status: JobStatus.nullable(),
    outcome: z.enum(['created', 'submitted', 'skipped', 'failed']).nullable().meta({
      description: 'What became of the firing, null while it is under way. How the job ends is its own status.',
    }),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
  })
  .meta({ id: 'BatchScheduleRun' });
export type ScheduleRunView = z.infer<typeof Run>;

export const BatchSchedule = z
  .object({
    schedule_id: ScheduleId,
    tenant_id: z.string(),
    project_id: z.string().nullable(),
    customer_id: z.string().nullable(),
    name: z.string(),
    schedule: z.looseObject({}).meta({ description: 'As given.' }),
    job: z.looseObject({}).meta({ description: 'As given.' }),
    items: z.looseObject({}).meta({ description: 'As given.' }),
    submit: z.boolean(),
    overlap: z.enum(['skip', 'allow']),
    deadline_after_seconds: z.int().nullable(),
    paused: z.boolean(),
    next_runs: z.array(Timestamp).nullable().meta({
      description: 'The next five times, none while paused. Null when they cannot be told right now.',
    }),
    runs: z.array(Run).meta({ description: 'The last ten firings, newest first.' }),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'BatchSchedule' });
export type BatchSchedule = z.infer<typeof BatchSchedule>;

export const BatchScheduleList = z
  .object({ data: z.array(BatchSchedule), next_cursor: NextCursor })
  .meta({ id: 'BatchScheduleList' });
export type BatchScheduleList = z.infer<typeof BatchScheduleList>;

export const ScheduleTriggered = z
  .object({ schedule_id: ScheduleId, triggered: z.boolean() })
  .meta({ id: 'BatchScheduleTriggered' });

export const ListSchedulesQuery = z.strictObject(PageQuery);
export type ListSchedulesQuery = z.infer<typeof ListSchedulesQuery>;
