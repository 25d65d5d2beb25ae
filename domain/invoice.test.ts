import { expect, test } from 'vitest';
import { judgeBilled } from './invoice.ts';

const batch = { currency: 'USD', jobHasEnded: true, charged: 10n, jobCharge: 4n };

test.each([
  [12n, 'USD', batch, 'differs', 2n],
  [10n, 'USD', batch, 'equal', 0n],
  [7n, 'USD', batch, 'differs', -3n],
  [12n, 'EUR', batch, 'currency_differs', 2n],
  [12n, 'USD', { ...batch, jobHasEnded: false }, 'job_open', 2n],
] as const)('%d %s billed of %o: %s by %d', (billed, currency, of, verdict, difference) => {
  expect(judgeBilled({ billed, currency }, of, { chargesTenant: false })).toEqual({ verdict, difference });
});

test('a tenant is never charged less than nothing; the gateway’s own account may be corrected by all of it', () => {
  expect(judgeBilled({ billed: 5n, currency: 'USD' }, batch, { chargesTenant: true }).verdict).toBe('below_zero');
  expect(judgeBilled({ billed: 6n, currency: 'USD' }, batch, { chargesTenant: true }).verdict).toBe('differs');
  expect(judgeBilled({ billed: 0n, currency: 'USD' }, batch, { chargesTenant: false }).verdict).toBe('differs');
});
