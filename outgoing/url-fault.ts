import { lookup as systemLookup } from 'node:dns';
import { type Lookup, leadsToRefused } from './addresses.ts';

/** A name that does not resolve in this time is judged when it is connected to. */
const LOOKUP_MS = 3_000;

/** The host of a URL as it is looked up: without brackets, in lower case. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase();
}

/** Whether a setting names the URL's host, a name or an address without brackets. */
export function isAllowedHost(url: URL, allowedHosts: ReadonlySet<string>): boolean {
  return allowedHosts.has(hostOf(url));
}

/** What keeps a URL from being asked, told without asking anybody, as the end of a sentence; null where nothing does. */
export function judgeUrl(text: string, allowedHosts: ReadonlySet<string>): string | null {
  const url = URL.parse(text);
  if (url === null) return 'must be a URL';
  const isPlain = url.protocol === 'http:' && isAllowedHost(url, allowedHosts);
  if (url.protocol !== 'https:' && !isPlain) return 'must be an https URL';
  // Whoever may see the URL would see them too.
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or password';
  return null;
}

/**
 * The same, and whether its host leads to an address that is not public. What a name means may change: whoever asks the URL
 * looks again.
 */
export async function findUrlFault(
  text: string,
  allowedHosts: ReadonlySet<string>,
  lookup: Lookup = systemLookup,
): Promise<string | null> {
  const fault = judgeUrl(text, allowedHosts);
  if (fault !== null) return fault;
  const url = new URL(text);
  if (isAllowedHost(url, allowedHosts)) return null;
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), LOOKUP_MS);
  try {
    const refused = await Promise.race([leadsToRefused(hostOf(url), lookup), late]);
    return refused ? 'must not lead to an address that is not public' : null;
  } finally {
    clearTimeout(timer);
  }
}
