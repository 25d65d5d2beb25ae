import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  asStrictAs,
  keepsContent,
  providerFilesDueAt,
  type StorageTerms,
  storageTerms,
  stricterTerms,
} from './storage-terms.ts';
import { isAsStrict, STORAGE_POLICIES } from './tenant-policy.ts';

const storage = fc.constantFrom(...STORAGE_POLICIES);
const terms: fc.Arbitrary<StorageTerms> = fc.record({
  storage,
  readWindowMs: fc.nat(),
  contentRetentionMs: fc.option(fc.nat()),
  deletesProviderFiles: fc.boolean(),
});
const forEver = (ms: number | null) => ms ?? Number.POSITIVE_INFINITY;

test('terms made stricter keep no more, and for no longer, than either', () => {
  fc.assert(
    fc.property(terms, terms, (one, other) => {
      const both = stricterTerms(one, other);
      expect(both).toEqual(stricterTerms(other, one));
      for (const each of [one, other]) {
        expect(isAsStrict(both.storage, each.storage)).toBe(true);
        expect(both.readWindowMs).toBeLessThanOrEqual(each.readWindowMs);
        expect(forEver(both.contentRetentionMs)).toBeLessThanOrEqual(forEver(each.contentRetentionMs));
        expect(both.deletesProviderFiles || !each.deletesProviderFiles).toBe(true);
      }
      expect(stricterTerms(both, one)).toEqual(both);
    }),
  );
});

test('a job’s own storage counts only where it is the stricter', () => {
  fc.assert(
    fc.property(terms, storage, (policy, asked) => {
      const made = storageTerms(policy, asked);
      expect(made.storage).toBe(isAsStrict(asked, policy.storage) ? asked : policy.storage);
      expect(storageTerms(policy, null)).toEqual(policy);
      expect(asStrictAs(policy.storage).every((each) => isAsStrict(each, policy.storage))).toBe(true);
    }),
  );
});

test('files at a provider go only where nothing reads them there any more', () => {
  const endedAt = new Date('2026-08-19T10:00:00Z');
  fc.assert(
    fc.property(terms, (each) => {
      const due = providerFilesDueAt(each, endedAt);
      if (each.storage === 'pointers') expect(due).toBeNull();
      if (each.storage === 'hashes') expect(due?.getTime()).toBe(endedAt.getTime() + each.readWindowMs);
      if (keepsContent(each.storage)) expect(due).toEqual(each.deletesProviderFiles ? endedAt : null);
    }),
  );
});
