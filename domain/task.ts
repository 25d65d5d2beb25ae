/** The public states of a task. The list is closed. */
export const TASK_STATES = ['QUEUED', 'PROCESSING', 'COMPLETED', 'FAILED'] as const;
export type TaskState = (typeof TASK_STATES)[number];

/** Whose ordinary endpoint a task runs on. */
export const TASK_TYPES = ['OPENAI', 'ANTHROPIC', 'GEMINI'] as const;
export type TaskType = (typeof TASK_TYPES)[number];

/** Nothing leaves the last two. `PROCESSING → QUEUED` is an attempt that failed for the moment, or whose worker was lost. */
const MOVES: { readonly [from in TaskState]: readonly TaskState[] } = {
  QUEUED: ['PROCESSING', 'FAILED'],
  PROCESSING: ['QUEUED', 'COMPLETED', 'FAILED'],
  COMPLETED: [],
  FAILED: [],
};

export function mayTaskMove(from: TaskState, to: TaskState): boolean {
  return MOVES[from].includes(to);
}

export function hasTaskEnded(state: TaskState): boolean {
  return MOVES[state].length === 0;
}

export const MIN_PRIORITY = 1;
export const MAX_PRIORITY = 10;

/** A whole number brought into the range of priorities; the lowest where none was given. */
export function clampPriority(priority: number | undefined): number {
  return Math.min(Math.max(priority ?? MIN_PRIORITY, MIN_PRIORITY), MAX_PRIORITY);
}

/** After its end a task can be polled, and its webhook be sent again by hand, for so long. */
export const POLLABLE_MS = 24 * 60 * 60 * 1_000;

/** Whether a task that ended then, null for not yet, can still be polled. */
export function isPollable(completedAt: Date | null, now: Date): boolean {
  return completedAt === null || now.getTime() - completedAt.getTime() < POLLABLE_MS;
}
