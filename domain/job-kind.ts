/** What the rows of a job stand for: a batch job, one durable task, or a run over documents. The list is closed. */
export const JOB_KINDS = ['batch', 'task', 'document'] as const;
export type JobKind = (typeof JOB_KINDS)[number];
