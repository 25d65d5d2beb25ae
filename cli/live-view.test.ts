import { expect, test } from 'vitest';
import { createLiveView } from './live-view.ts';
import type { ProgressFrame } from './progress-view.ts';
import { createTerminal } from './terminal.ts';
import { counts, fakeJob } from './testing/fake-job.ts';

function setUp(isTTY: boolean) {
  const written: string[] = [];
  const err = { isTTY, columns: 80, write: (text: string) => written.push(text) };
  return { view: createLiveView({ terminal: createTerminal(err, err, { NO_COLOR: '1' }) }), written };
}

function frame(completed: number, changes: Partial<ProgressFrame> = {}): ProgressFrame {
  const job = fakeJob({ status: 'running', counts: counts(100, { completed }) });
  return { job, nowMs: 0, startedMs: 0, written: null, notes: [], ...changes };
}

test('draws over the lines of the last frame on a terminal', () => {
  const { view, written } = setUp(true);
  view.show(frame(1));
  view.show(frame(2));
  expect(written[0]?.startsWith('\r\x1b[J')).toBe(true);
  expect(written[1]?.startsWith('\x1b[3A\r\x1b[J')).toBe(true);
  expect(written[1]).toContain('2 completed');
});

test('draws nothing where nothing has changed', () => {
  const { view, written } = setUp(true);
  view.show(frame(1));
  view.show(frame(1));
  expect(written).toHaveLength(1);
});

test('says a note at once and in each further frame until the job has ended', () => {
  const { view, written } = setUp(true);
  view.show(frame(1));
  view.addNotes(['Ctrl-C again leaves.']);
  expect(written[1]).toContain('Ctrl-C again leaves.');
  view.show(frame(2));
  expect(written[2]).toContain('Ctrl-C again leaves.');
  view.show({ ...frame(100), job: { ...frame(100).job, status: 'completed' } });
  expect(written[3]).not.toContain('Ctrl-C');
});

test('in a log, says only changes worth a line, and else something every half minute', () => {
  const { view, written } = setUp(false);
  view.show(frame(1));
  view.show(frame(2, { nowMs: 1000 }));
  expect(written).toHaveLength(1);
  view.show(frame(11, { nowMs: 2000 }));
  expect(written).toHaveLength(2);
  view.show(frame(12, { nowMs: 33_000 }));
  expect(written).toHaveLength(3);
  expect(written.join('')).not.toContain('\x1b');
});
