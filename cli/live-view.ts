import type { Context } from './command.ts';
import { hasEnded, percent, settledItems } from './job-progress.ts';
import { describeProgress, type ProgressFrame, renderProgress } from './progress-view.ts';

/** Shows how a job goes on while a person waits. */
export interface LiveView {
  show(frame: ProgressFrame): void;
  /** Says something at once, and goes on saying it. */
  addNotes(notes: readonly string[]): void;
}

const DEFAULT_COLUMNS = 80;
/** Where nobody watches, so often at most unless something happens. */
const QUIET_MS = 30_000;

/** On a terminal a few lines that are drawn over; elsewhere a line for each change worth a line in a log. */
export function createLiveView(context: Pick<Context, 'terminal'>): LiveView {
  return withNotes(createShows(1, context)[0] ?? (() => undefined));
}

/** The same for several jobs at once, one below the other. */
export function createLiveViews(jobs: number, context: Pick<Context, 'terminal'>): LiveView[] {
  return createShows(jobs, context).map(withNotes);
}

export const SILENT_VIEW: LiveView = { show: () => undefined, addNotes: () => undefined };

type Show = LiveView['show'];

function withNotes(show: Show): LiveView {
  let notes: readonly string[] = [];
  let last: ProgressFrame | undefined;
  const showLast = () => {
    if (last !== undefined) show({ ...last, notes: [...last.notes, ...(hasEnded(last.job) ? [] : notes)] });
  };
  return {
    show(frame) {
      last = frame;
      showLast();
    },
    addNotes(added) {
      notes = [...notes, ...added];
      showLast();
    },
  };
}

function createShows(jobs: number, { terminal: { err, paintErr } }: Pick<Context, 'terminal'>): Show[] {
  return err.isTTY === true ? drawnShows(jobs, err, paintErr) : Array.from({ length: jobs }, () => loggedShow(err));
}

/** Every change draws all of them anew, over what was drawn before. */
function drawnShows(jobs: number, stream: Context['terminal']['err'], paint: Context['terminal']['paint']): Show[] {
  const frames = new Map<number, ProgressFrame>();
  let height = 0;
  let last = '';
  const draw = () => {
    // A line that fills the last column would wrap on some terminals.
    const columns = (stream.columns ?? DEFAULT_COLUMNS) - 1;
    const shown = Array.from({ length: jobs }, (_, index) => frames.get(index)).filter((frame) => frame !== undefined);
    const lines = shown.flatMap((frame, index) => [
      ...(index === 0 ? [] : ['']),
      ...renderProgress(frame, columns, paint),
    ]);
    const text = lines.join('\n');
    if (text === last) return;
    const back = height === 0 ? '' : `\x1b[${height}A`;
    stream.write(`${back}\r\x1b[J${text}\n`);
    height = lines.length;
    last = text;
  };
  return Array.from({ length: jobs }, (_, index) => (frame: ProgressFrame) => {
    frames.set(index, frame);
    draw();
  });
}

function loggedShow(stream: Context['terminal']['err']): Show {
  let said = '';
  let saidMs = Number.NEGATIVE_INFINITY;
  return (frame) => {
    const { job, nowMs, notes } = frame;
    const tenths = Math.floor(percent(settledItems(job), job.counts.total) / 10);
    const key = JSON.stringify([job.status, job.waiting?.reason, notes, tenths]);
    if (key === said && nowMs - saidMs < QUIET_MS) return;
    said = key;
    saidMs = nowMs;
    stream.write(`${describeProgress(frame)}\n`);
  };
}
