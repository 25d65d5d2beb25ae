import { expect, test } from 'vitest';
import type {
  AdmissionVerdict,
  DeliveryStep,
  DocumentRunStep,
  DocumentStep,
  IngestResult,
  PollResult,
  ResolveResult,
  SubmitResult,
  TaskStep,
} from '../../activities/interfaces.ts';
import { CLOSE_REASONS } from '../../domain/close-reason.ts';
import type { JobEndState } from '../../domain/job-state.ts';
import { SCENARIOS } from './scenarios.ts';
import { bytesOf, listVersions, readRuns } from './versions.ts';
import { whatHappened } from './what-happened.ts';

const MAX_BYTES_OF_A_VERSION = 600_000;

type All<Word extends string> = Record<Word, true>;

const ENDS: All<JobEndState | 'refused' | 'stale'> = {
  completed: true,
  completed_with_errors: true,
  expired: true,
  cancelled: true,
  failed: true,
  refused: true,
  stale: true,
};
const ANSWERS: readonly [what: string, words: All<string>][] = [
  [
    'admitJob answered verdict',
    { accepted: true, refused: true, cancelled: true, stale: true } satisfies All<AdmissionVerdict['verdict']>,
  ],
  [
    'submitAttempt answered kind',
    { accepted: true, unknown: true, wait: true, split: true, close: true } satisfies All<SubmitResult['kind']>,
  ],
  [
    'resolveAttempt answered kind',
    {
      accepted: true,
      look_again: true,
      no_answer: true,
      not_found: true,
      indeterminate: true,
      close: true,
    } satisfies All<ResolveResult['kind']>,
  ],
  ['deliverWebhook answered kind', { again: true, over: true } satisfies All<DeliveryStep['kind']>],
  [
    'reviewRun answered kind',
    { write: true, attempt: true, wait: true, over: true } satisfies All<DocumentRunStep['kind']>,
  ],
  ['attemptDocument answered kind', { again: true, wait: true, idle: true } satisfies All<DocumentStep['kind']>],
  ['attemptTask answered kind', { again: true, over: true } satisfies All<TaskStep['kind']>],
  ['pollAttempt answered kind', { open: true, ended: true, lost: true } satisfies All<PollResult['kind']>],
  [
    'pollAttempt answered end',
    { completed: true, failed: true, expired: true, cancelled: true } satisfies All<NonNullable<PollResult['end']>>,
  ],
  [
    'ingestAttempt answered next',
    { close: true, again: true, retry: true, resubmit: true } satisfies All<IngestResult['next']>,
  ],
];

const facts = new Set(readRuns().flatMap(({ history }) => whatHappened(history.events)));

test('every workflow type has a run that was recorded to its end', async () => {
  const types = Object.keys(await import('../../workflows/index.ts'));
  expect(types.filter((type) => !facts.has(`${type} completed`))).toEqual([]);
});

test('every scenario is recorded', () => {
  const recorded = new Set(readRuns().map(({ scenario }) => scenario));
  expect(SCENARIOS.map(({ name }) => name).filter((name) => !recorded.has(name))).toEqual([]);
});

test.each(Object.keys(ENDS))('a job that ended as %s is recorded', (end) => {
  expect(facts).toContain(`batchJob ended as ${end}`);
});

test.each(CLOSE_REASONS)('a shard that was closed as %s is recorded', (reason) => {
  expect(facts).toContain(`closeShard was told ${reason}`);
});

test.each(ANSWERS.flatMap(([what, words]) => Object.keys(words).map((word) => `${what} ${word}`)))(
  'a run in which %s is recorded',
  (fact) => {
    expect(facts).toContain(fact);
  },
);

test.each([
  'batchJob continued as new',
  'batchJob was terminated',
  'batchJob was cancelled by Temporal',
  'providerBatch continued as new',
  'providerBatch was terminated',
  'webhookDelivery continued as new',
  'webhookDelivery ended as delivered',
  'webhookDelivery ended as abandoned',
  'asyncTask continued as new',
  'asyncTask was cancelled by Temporal',
  'asyncTask ended as COMPLETED',
  'asyncTask ended as FAILED',
  'heard deliverNow',
  'heard cancel',
  'heard pollNow',
  'heard rowsChanged',
  'heard shardChanged',
  'heard taskChanged',
])('a run of which can be said: %s, is recorded', (fact) => {
  expect(facts).toContain(fact);
});

test.each(listVersions())('what is kept of %s is small', (version) => {
  expect(bytesOf(version)).toBeLessThan(MAX_BYTES_OF_A_VERSION);
});

test('no history names the machine it was recorded on', () => {
  const identities = new Set<string>();
  const traces: string[] = [];
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return;
    for (const [key, child] of Object.entries(value)) {
      if (key === 'identity') identities.add(String(child));
      else if (key === 'stackTrace' && child !== '') traces.push(String(child));
      else walk(child);
    }
  };
  for (const { history } of readRuns()) walk(history.events);
  expect([...identities].toSorted()).toEqual(['history-service', 'recorder']);
  expect(traces).toEqual([]);
});
