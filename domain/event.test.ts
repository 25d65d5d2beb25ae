import { expect, test } from 'vitest';
import { EVENT_TYPES, jobStatusEventType } from './event.ts';
import { JOB_STATES } from './job-state.ts';

test('every state of a job has an announcement, and no type is listed twice', () => {
  for (const state of JOB_STATES) expect(EVENT_TYPES).toContain(jobStatusEventType(state));
  expect(new Set(EVENT_TYPES).size).toBe(EVENT_TYPES.length);
  expect(jobStatusEventType('completed_with_errors')).toBe('batch_job.completed_with_errors');
});
