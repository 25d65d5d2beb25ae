import { expect, test } from 'vitest';
import { createLogger, type LogLevel } from './logger.ts';
import { temporalLogger } from './temporal-logger.ts';

function capture(level: LogLevel = 'info') {
  const lines: string[] = [];
  const logger = createLogger({ level, service: 'test', destination: { write: (line) => lines.push(line) } });
  return { logger, lines, last: () => JSON.parse(lines.at(-1) ?? 'null') };
}

test('writes one JSON object a line with level, time, service and message', () => {
  const { logger, lines, last } = capture();
  logger.info({ jobId: 'job_1' }, 'submitted');
  expect(lines).toHaveLength(1);
  expect(last()).toEqual({
    level: 'info',
    time: expect.stringMatching(/Z$/),
    service: 'test',
    jobId: 'job_1',
    msg: 'submitted',
  });
});

test('writes nothing below its level', () => {
  const { logger, lines } = capture('warn');
  logger.info('unheard');
  logger.warn('heard');
  expect(lines).toHaveLength(1);
});

test('takes secrets and contents out of fields at any depth', () => {
  const { logger, lines } = capture();
  logger.info({ request: { headers: { Authorization: 'Bearer abcdefghijk' }, body: 'my prompt' } }, 'x');
  expect(lines[0]).not.toMatch(/abcdefghijk|my prompt/);
});

test('takes them out of the bindings of a child, too', () => {
  const { logger, last } = capture();
  logger.child({ jobId: 'job_1', prompt: 'my prompt' }).info('x');
  expect(last()).toMatchObject({ jobId: 'job_1', prompt: '[redacted]' });
});

test('takes what looks like a key out of a message', () => {
  const { logger, lines } = capture();
  logger.info('sent bg_tenant_0123456789abcdefghijABCDEFGHIJ to postgres://me:hunter2@db/x');
  expect(lines[0]).not.toMatch(/0123456789|hunter2/);
});

test('writes an error with its cause but without the fields a library hangs on it', () => {
  const { logger, last, lines } = capture();
  const cause = Object.assign(new Error('refused'), { code: 'ECONNREFUSED', request: { data: 'my prompt' } });
  logger.error(new Error('upload failed', { cause }));
  expect(last()).toMatchObject({
    level: 'error',
    msg: 'upload failed',
    err: { type: 'Error', message: 'upload failed', cause: { code: 'ECONNREFUSED', message: 'refused' } },
  });
  expect(lines[0]).not.toContain('my prompt');
});

test('carries what Temporal says, with its error under err', () => {
  const { logger, last } = capture('trace');
  const temporal = temporalLogger(logger);
  temporal.warn('activity failed', { workflowId: 'batch-job/job_1', error: new Error('no') });
  expect(last()).toMatchObject({
    level: 'warn',
    msg: 'activity failed',
    workflowId: 'batch-job/job_1',
    err: { message: 'no' },
  });
  for (const level of ['trace', 'debug', 'info', 'warn', 'error'] as const) {
    temporal[level]('said');
    expect(last()).toMatchObject({ level, msg: 'said' });
  }
});
