import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CreateTask, presentTask, type TaskFacts, taskRequest } from './task.ts';

const AT = new Date('2026-08-19T10:00:00Z');
const FACTS: TaskFacts = {
  ...{ taskId: 'task_1', taskType: 'OPENAI', state: 'QUEUED', priority: 1, attempts: 0, createdAt: AT },
  ...{ startedAt: null, completedAt: null, request: null, result: null, usage: null, error: null, gone: null },
};

test('property: the payload is read back from the request it was made to', () => {
  const text = fc.string({ minLength: 1, unit: 'binary' });
  const optional = { requiredKeys: ['prompt'] as ['prompt'], noNullPrototype: true };
  const payloads = fc.record({ prompt: text, model: text, system: text, maxTokens: fc.integer({ min: 1 }) }, optional);
  fc.assert(
    fc.property(payloads, (payload) => {
      const { payload: read } = presentTask({ ...FACTS, request: JSON.stringify(taskRequest(payload)) });
      expect(read).toEqual(payload);
    }),
  );
});

test('an error is shown of a task that failed alone, a response of one that completed alone', () => {
  const result = JSON.stringify({ choices: [{ message: { content: 'hi' }, finish_reason: 'stop' }], model: 'm' });
  const all = { ...FACTS, result, error: { code: 'RATE_LIMITED', message: 'm' } };
  const shown = (state: TaskFacts['state']) => {
    const { error, response } = presentTask({ ...all, state });
    return [error?.code ?? null, response?.text ?? null];
  };
  expect(shown('QUEUED')).toEqual([null, null]);
  expect(shown('PROCESSING')).toEqual([null, null]);
  expect(shown('COMPLETED')).toEqual([null, 'hi']);
  expect(shown('FAILED')).toEqual(['RATE_LIMITED', null]);
});

test('a reply without text is shown as an empty one, and a refusal by its words', () => {
  const shown = (message: unknown) =>
    presentTask({ ...FACTS, state: 'COMPLETED', result: JSON.stringify({ choices: [{ message }] }) }).response?.text;
  expect(shown({ content: null })).toBe('');
  expect(shown({ content: null, refusal: 'no' })).toBe('no');
  expect(shown(undefined)).toBe('');
});

test('content that is kept no more is told', () => {
  const result = JSON.stringify({ choices: [] });
  const request = JSON.stringify(taskRequest({ prompt: 'hi' }));
  expect(presentTask({ ...FACTS, state: 'COMPLETED', request, result })).not.toHaveProperty('content');
  expect(presentTask({ ...FACTS, state: 'COMPLETED', request }).content).toBe('not_stored');
  expect(presentTask({ ...FACTS, state: 'FAILED', gone: 'deleted' }).content).toBe('deleted');
});

test('a priority is a number that is whole, as large as may be', () => {
  const isTaken = (priority: unknown) =>
    CreateTask.safeParse({ taskType: 'OPENAI', payload: { prompt: 'x' }, priority }).success;
  expect([0, -3, 1e300, 2.0].map(isTaken)).toEqual([true, true, true, true]);
  expect([1.5, Number.NaN, Number.POSITIVE_INFINITY, '3', null, true].some(isTaken)).toBe(false);
});
