import { expect, test } from 'vitest';
import { type ContentFacts, contentPlace, readableUntil } from './content-state.ts';
import type { StoragePolicy } from './tenant-policy.ts';

const HOUR_MS = 3_600_000;
const END = new Date('2026-08-19T10:00:00Z');
const after = (ms: number) => new Date(END.getTime() + ms);

function facts(storage: StoragePolicy, changes: Partial<ContentFacts> = {}) {
  return {
    terms: { storage, readWindowMs: HOUR_MS, contentRetentionMs: 2 * HOUR_MS, deletesProviderFiles: false },
    submittedAt: after(-HOUR_MS),
    completedAt: END,
    retrievalDeadline: after(10 * HOUR_MS),
    contentDeletedAt: null,
    providerFilesDeletedAt: null,
    ...changes,
  };
}

test.each([
  ['raw', {}, 20, 'stored'],
  ['normalized', { providerFilesDeletedAt: END }, 20, 'stored'],
  ['normalized', { contentDeletedAt: END }, 0, 'deleted'],
  ['pointers', {}, 9, 'at_provider'],
  ['pointers', {}, 10, 'expired'],
  ['pointers', { retrievalDeadline: null }, 99, 'at_provider'],
  ['pointers', { providerFilesDeletedAt: END }, 0, 'expired'],
  ['pointers', { contentDeletedAt: END }, 0, 'deleted'],
  ['hashes', { completedAt: null }, 5, 'at_provider'],
  ['hashes', {}, 0.9, 'at_provider'],
  ['hashes', {}, 1, 'not_stored'],
  ['hashes', { providerFilesDeletedAt: END }, 0, 'not_stored'],
  ['hashes', { retrievalDeadline: after(HOUR_MS / 2) }, 0.5, 'expired'],
] as const)('%s with %j, %s hours after the end: %s', (storage, changes, hours, place) => {
  expect(contentPlace(facts(storage, changes), after(hours * HOUR_MS))).toBe(place);
});

test('until when results can be had is said by who has them', () => {
  expect(readableUntil(facts('raw'))).toEqual(after(2 * HOUR_MS));
  expect(readableUntil(facts('normalized', { completedAt: null }))).toEqual(after(HOUR_MS));
  expect(readableUntil(facts('pointers'))).toEqual(after(10 * HOUR_MS));
  expect(readableUntil(facts('hashes'))).toEqual(after(HOUR_MS));
  expect(readableUntil(facts('hashes', { completedAt: null }))).toEqual(after(10 * HOUR_MS));
  expect(readableUntil(facts('raw', { retrievalDeadline: null }))).toBeNull();
  const forEver = facts('raw');
  expect(readableUntil({ ...forEver, terms: { ...forEver.terms, contentRetentionMs: null } })).toBeNull();
});
