import type { BatchJob } from '../contracts/job.ts';
import type { Context } from './command.ts';
import { plainText } from './errors.ts';
import { describeCounts } from './job-progress.ts';
import { count, duration, fields, time } from './output.ts';
import { statusStyle } from './progress-view.ts';

/** All that a job says of itself, for `status`. */
export function describeJob(job: BatchJob, context: Pick<Context, 'terminal'>): string {
  const { counts, cost, cancel, error, refusal } = job;
  const pairs = [
    ['job', job.job_id],
    ['name', job.name],
    ['status', job.status],
    ['waiting', job.waiting === null ? null : `${job.waiting.reason}, since ${time(job.waiting.since)}`],
    ['endpoint', job.endpoint],
    ['model', job.model],
    ['items', `${count(counts.total)}: ${describeCounts(job, count)}`],
    [
      'failures',
      Object.entries(job.failures)
        .map(([name, value]) => `${count(value)} ${name}`)
        .join(', '),
    ],
    ['provider says', describeHint(job)],
    ['cost', `${cost.settled} ${cost.currency} settled`],
    ['held', `${cost.held} of ${cost.reserved} ${cost.currency} reserved`],
    ['overage', describeOverage(job)],
    ['sample', describeSample(job)],
    ['samples', job.sample_jobs.join(', ')],
    ['estimate', cost.estimated === null ? null : `${cost.estimated} ${cost.currency}`],
    ['created', time(job.created_at)],
    ['submitted', time(job.submitted_at)],
    ['should end', job.completed_at === null ? time(job.estimated_completion_at) : null],
    ['ended', time(job.completed_at)],
    ['took', took(job)],
    ['expires', job.completed_at === null ? time(job.expires_at) : null],
    ['storage', job.storage],
    ['results until', time(job.retrieval_deadline)],
    ['content deleted', time(job.content_deleted_at)],
    [
      'cancel',
      cancel === null ? null : `asked for ${time(cancel.requested_at)}: ${cancel.outcome ?? 'not settled yet'}`,
    ],
    ['cancel reason', cancel?.reason],
    ['error', error === null ? null : `${error.code}: ${error.message}`],
    ['refused', refusal === null ? null : `${refusal.error}: ${refusal.message}`],
    [
      'metadata',
      Object.entries(job.metadata)
        .map(([key, value]) => `${key}=${value}`)
        .join(', '),
    ],
  ] as const;
  const warnings = job.warnings.map(({ code, message }) => ['warning', `${code}: ${message}`] as const);
  return fields(context, [...pairs, ...warnings]);
}

/** How a job ended, in one line; of a sample also what it says of the whole. */
export function describeEnd(job: BatchJob, { terminal, program }: Pick<Context, 'terminal' | 'program'>): string {
  const { cost, counts } = job;
  const items = job.status === 'completed' ? `all ${count(counts.total)} items` : describeCounts(job, count);
  const spent = [took(job)].filter((part) => part !== null).map((part) => `, ${part}`);
  const why = job.error === null ? '' : ` ${job.error.code}: ${job.error.message}`;
  const text = `${items}, ${cost.settled} ${cost.currency}${spent.join('')}.${why}`;
  const end = `${terminal.paint(statusStyle(job.status), job.status)}: ${plainText(text)}\n`;
  const { sample } = job;
  return sample === null
    ? end
    : `${end}${describeSample(job)}.\nRun all of them: ${program} submit ${sample.of_job_id}\n`;
}

function describeOverage({ overage, cost }: BatchJob): string | null {
  return overage === null ? null : `${overage.amount} ${cost.currency} ${overage.outcome}`;
}

function describeSample({ sample, cost: { currency } }: BatchJob): string | null {
  if (sample === null) return null;
  const { items, of_items: ofItems, of_job_id: draft, extrapolated_cost: cost } = sample;
  const whole = cost === null ? 'what all would cost is not known yet' : `all would cost about ${cost} ${currency}`;
  return `${count(items)} of the ${count(ofItems)} items of ${draft}; ${whole}`;
}

function took({ submitted_at: from, completed_at: to }: BatchJob): string | null {
  return from === null || to === null ? null : duration(Date.parse(to) - Date.parse(from));
}

function describeHint({ progress, completed_at: end }: BatchJob): string | null {
  if (progress === null || end !== null) return null;
  return `${count(progress.completed ?? 0)} completed, ${count(progress.failed ?? 0)} failed, as of ${time(progress.as_of)}`;
}
