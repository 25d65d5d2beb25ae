import type { BatchJob } from '../contracts/job.ts';
import { plainText } from './errors.ts';
import { describeCounts, doneItems, hasEnded, percent, settledItems } from './job-progress.ts';
import { count, duration } from './output.ts';
import type { Paint, Style } from './terminal.ts';
import { cutText, textWidth } from './text-width.ts';

export interface ProgressFrame {
  readonly job: BatchJob;
  readonly nowMs: number;
  readonly startedMs: number;
  /** Results in the file so far; null where none is written. */
  readonly written: number | null;
  /** Things to know at once, a line each: the gateway does not answer, Ctrl-C was pressed. */
  readonly notes: readonly string[];
}

const MAX_BAR = 40;
const MIN_BAR = 8;

/** A job as a few lines for a terminal, none wider than `columns`. */
export function renderProgress(frame: ProgressFrame, columns: number, paint: Paint): string[] {
  const { job, notes } = frame;
  const name = job.name === null ? '' : `  ${job.name}`;
  const lines: [string, Style | null][] = [
    [`${job.job_id}${name}  ${job.endpoint} on ${job.model}`, 'bold'],
    [costLine(frame), 'dim'],
    ...(job.waiting === null ? [] : [[waitingLine(job.waiting, frame.nowMs), 'yellow'] as [string, Style]]),
    ...notes.map((note) => [note, 'yellow'] as [string, Style]),
  ];
  const [head = '', ...rest] = lines.map(([text, style]) => {
    const cut = cutText(plainText(text), columns);
    return style === null ? cut : paint(style, cut);
  });
  return [head, barLine(frame, columns, paint), ...rest];
}

/** The same in one line, for a log. */
export function describeProgress({ job, written, notes }: ProgressFrame): string {
  const { counts, cost, waiting } = job;
  return plainText(
    [
      `${job.job_id} ${job.status}`,
      `${settledItems(job)} of ${counts.total} settled (${describeCounts(job)})`,
      `cost ${cost.settled} ${cost.currency}`,
      ...(written === null ? [] : [`${written} results written`]),
      ...(waiting === null ? [] : [`waiting: ${waiting.reason}`]),
      ...notes,
    ].join(', '),
  );
}

function barLine({ job }: ProgressFrame, columns: number, paint: Paint): string {
  const { total } = job.counts;
  const settled = settledItems(job);
  const numbers = `${percent(settled, total)}%  ${count(settled)} of ${count(total)}: ${describeCounts(job, count)}`;
  const status = job.status.padEnd('finalizing'.length);
  const room = columns - textWidth(status) - textWidth(numbers) - 4;
  const bar = room < MIN_BAR ? '' : `${drawBar(settled, doneItems(job), total, Math.min(room, MAX_BAR), paint)}  `;
  const shown = cutText(numbers, columns - textWidth(status) - 2);
  return `${paint(statusStyle(job.status), status)}  ${bar}${shown}`;
}

/** Settled items solid, those only the provider calls done shaded. */
function drawBar(settled: number, done: number, total: number, width: number, paint: Paint): string {
  const cells = (part: number) => (total === 0 ? 0 : Math.floor((part / total) * width));
  const solid = cells(settled);
  const shaded = Math.max(0, cells(done) - solid);
  return `${paint('green', '█'.repeat(solid))}${paint('cyan', '▒'.repeat(shaded))}${paint('dim', '░'.repeat(width - solid - shaded))}`;
}

function costLine({ job, nowMs, startedMs, written }: ProgressFrame): string {
  const { cost, estimated_completion_at: end } = job;
  const parts = [
    `cost ${cost.settled} of ${cost.reserved} ${cost.currency}`,
    duration(nowMs - startedMs),
    ...(end === null || hasEnded(job) ? [] : [expectedEnd(Date.parse(end) - nowMs)]),
    ...(written === null ? [] : [`${count(written)} results written`]),
  ];
  return parts.join('   ');
}

function expectedEnd(leftMs: number): string {
  return leftMs < 1000 ? 'should end any moment' : `should end in ${duration(leftMs)}`;
}

function waitingLine({ reason, since }: { reason: string; since: string }, nowMs: number): string {
  return `waiting for ${duration(nowMs - Date.parse(since))}: ${reason}`;
}

export function statusStyle(status: BatchJob['status']): Style {
  switch (status) {
    case 'completed':
      return 'green';
    case 'completed_with_errors':
    case 'expired':
    case 'cancel_requested':
    case 'cancelled':
      return 'yellow';
    case 'failed':
      return 'red';
    case 'draft':
      return 'dim';
    case 'validating':
    case 'queued':
    case 'running':
    case 'finalizing':
      return 'cyan';
  }
}
