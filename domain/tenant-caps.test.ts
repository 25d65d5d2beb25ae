import { expect, test } from 'vitest';
import { findExcess, NO_GROWTH } from './tenant-caps.ts';

const CAPS = { maxDrafts: 2, maxOpenItems: 10, maxStoredBytes: 100 };
const FULL = { drafts: 2, openItems: 10, storedBytes: 100 };

test('at the caps is within them', () => {
  expect(findExcess(FULL, { drafts: 1, openItems: 1, storedBytes: 1 }, CAPS)).toBeNull();
});

test.each([
  [{ drafts: 1 }, 'may have 2 drafts and has 2.'],
  [{ openItems: 5 }, 'may have 10 items in jobs that have not ended. It has 10, and this would add 5.'],
  [{ storedBytes: 7 }, 'may have 100 bytes of requests and results stored. It has 100, and this would add 7.'],
])('%o more is refused with limit, present value and remedy', (more, message) => {
  const growth = { ...NO_GROWTH, ...more };
  const held = {
    drafts: FULL.drafts + growth.drafts,
    openItems: FULL.openItems + growth.openItems,
    storedBytes: FULL.storedBytes + growth.storedBytes,
  };
  const excess = findExcess(held, growth, CAPS);
  expect(excess).toMatchObject({ code: 'quota_exceeded' });
  expect(excess?.message).toContain(message);
  expect(excess?.message).toMatch(/makes room\.$/);
});

test('whoever adds nothing, or takes away, is not refused, and null caps nothing', () => {
  const over = { drafts: 9, openItems: 99, storedBytes: 999 };
  expect(findExcess(over, { drafts: 0, openItems: -1, storedBytes: 0 }, CAPS)).toBeNull();
  expect(
    findExcess({ ...FULL, storedBytes: 1e15 }, { ...NO_GROWTH, storedBytes: 1 }, { ...CAPS, maxStoredBytes: null }),
  ).toBeNull();
});
