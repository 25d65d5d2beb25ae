import { expect, test } from 'vitest';
import { JOB_KINDS } from '../domain/job-kind.ts';
import { fromUuid, jobIdOf, newId, parseJobId, toUuid } from './ids.ts';

const UUID = '01a22cfc-08da-7aa7-bffe-0626aef48b7e';
const JOB = 'job_01m8pfr26tfakvzzg64tqf92vy';

test.each([
  ['job', /^job_/],
  ['item', /^item_/],
  ['task', /^task_/],
  ['doc', /^doc_/],
  ['documentRun', /^run_/],
  ['key', /^key_/],
  ['budget', /^bud_/],
  ['event', /^evt_/],
  ['request', /^req_/],
] as const)('a new %s id has its public prefix and returns from its uuid unchanged', (kind, prefix) => {
  const id = newId(kind);
  expect(id).toMatch(prefix);
  expect(fromUuid(kind, toUuid(kind, id) ?? '')).toBe(id);
});

test('an id of the same moment is never made twice', () => {
  expect(new Set(Array.from({ length: 1000 }, () => newId('job'))).size).toBe(1000);
});

test('reads the uuid of an id and makes the id of a uuid', () => {
  expect(toUuid('job', JOB)).toBe(UUID);
  expect(fromUuid('job', UUID)).toBe(JOB);
});

test.each([
  ['another kind', 'item_01m8pfr26tfakvzzg64tqf92vy'],
  ['no prefix', '01m8pfr26tfakvzzg64tqf92vy'],
  ['a bare uuid', UUID],
  ['too short', JOB.slice(0, -1)],
  ['too long', `${JOB}0`],
  ['more than 128 bits', 'job_81m8pfr26tfakvzzg64tqf92vy'],
  ['upper case', 'job_01M8PFR26TFAKVZZG64TQF92VY'],
  ['a letter outside the alphabet', 'job_01m8pfr26tfakvzzg64tqf92vu'],
  ['a line feed at the end', `${JOB}\n`],
  ['nothing', ''],
])('takes an id with %s for unknown', (_, id) => {
  expect(toUuid('job', id)).toBeNull();
});

test('an id whose bits are no uuid is unknown, not an error', () => {
  expect(toUuid('job', 'job_01j7zzzzzzzzzzzzzzzzzzzzzz')).toBeNull();
});

test('one uuid has an id for each kind of job, and each leads back to its kind alone', () => {
  const ids = JOB_KINDS.map((kind) => jobIdOf({ kind, uuid: UUID }));
  expect(ids.map((id) => id.split('_')[0])).toEqual(['job', 'task', 'run']);
  expect(ids.map(parseJobId)).toEqual(JOB_KINDS.map((kind) => ({ kind, uuid: UUID })));
});

test.each([
  ['an item', fromUuid('item', UUID)],
  ['a bare uuid', UUID],
  ['a malformed id', 'task_01m8pfr26tfakvzzg64tqf92vu'],
  ['nothing', ''],
])('the id of %s is of no job', (_, id) => {
  expect(parseJobId(id)).toBeNull();
});
