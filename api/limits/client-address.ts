import { isIPv4, isIPv6 } from 'node:net';
import type { ApiContext } from '../env.ts';

/** Groups of an IPv6 address that name a network: one customer of an access provider has all addresses behind them. */
const NETWORK_GROUPS = 4;
const UNKNOWN = 'unknown';

/**
 * Whom a call comes from, for counting: an IPv4 address or an IPv6 network of 64 bits. `X-Forwarded-For` is believed only as
 * far as proxies of our own wrote it: with n of them the nth entry from its end, with none not at all.
 */
export function clientAddress(c: ApiContext, trustedProxies: number): string {
  const peer = c.env?.incoming?.socket.remoteAddress ?? '';
  if (trustedProxies === 0) return networkOf(peer);
  const hops = (c.req.header('x-forwarded-for') ?? '').split(',').map((hop) => hop.trim());
  const told = hops.at(-trustedProxies) ?? '';
  return isIPv4(told) || isIPv6(told) ? networkOf(told) : networkOf(peer);
}

function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (isIPv4(address)) return address;
  if (!isIPv6(address)) return UNKNOWN;
  const [head = '', tail] = address.replace(/%.*$/, '').split('::');
  const groups = head === '' ? [] : head.split(':');
  const rest = tail === undefined || tail === '' ? [] : tail.split(':');
  const missing = Math.max(0, 8 - groups.length - rest.length);
  const whole = tail === undefined ? groups : [...groups, ...Array.from({ length: missing }, () => '0'), ...rest];
  const network = whole.slice(0, NETWORK_GROUPS).map((group) => Number.parseInt(group, 16).toString(16));
  return `${network.join(':')}::/64`;
}
