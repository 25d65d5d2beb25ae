import { expect, test } from 'vitest';
import type { ApiContext } from '../env.ts';
import { clientAddress } from './client-address.ts';

function calledFrom(remoteAddress: string | undefined, forwarded?: string): ApiContext {
  return {
    env: { incoming: { socket: { remoteAddress } } },
    req: { header: () => forwarded },
  } as unknown as ApiContext;
}

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:1:2::9', '2001:db8:1:2::/64'],
  ['2001:db8::9', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  [undefined, 'unknown'],
])('%s counts as %s', (address, expected) => {
  expect(clientAddress(calledFrom(address), 0)).toBe(expected);
});

test('with n proxies of our own the nth entry from the end of X-Forwarded-For is the client', () => {
  const forwarded = '203.0.113.9, 198.51.100.2, 10.0.0.1';
  expect(clientAddress(calledFrom('10.0.0.2', forwarded), 0)).toBe('10.0.0.2');
  expect(clientAddress(calledFrom('10.0.0.2', forwarded), 1)).toBe('10.0.0.1');
  expect(clientAddress(calledFrom('10.0.0.2', forwarded), 2)).toBe('198.51.100.2');
  expect(clientAddress(calledFrom('10.0.0.2', forwarded), 9)).toBe('10.0.0.2');
  expect(clientAddress(calledFrom('10.0.0.2', 'not an address'), 1)).toBe('10.0.0.2');
});
