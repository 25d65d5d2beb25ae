import type { Clock } from '../clock.ts';
import type { Dialect } from '../endpoint.ts';
import { errorOfStatus, errorReply, invalid, newRequestId } from './errors.ts';
import { API_VERSIONS, versionOf } from './versions.ts';

const LIMITS = { requests: 1_000, tokens: 2_400_000, 'input-tokens': 2_000_000, 'output-tokens': 400_000 };
const RESET_MS = 60_000;

/**
 * How Anthropic answers any request: a key in either of two headers, one of the known API versions, its error shape
 * and its headers (@anthropic-ai/sdk; Anthropic rate limits docs).
 */
export function createAnthropicDialect(clock: Clock): Dialect {
  return {
    provider: 'anthropic',
    errorReply: errorOfStatus,
    authenticate(headers) {
      const { key } = credentialOf(headers);
      if (key === '') return errorReply({ ...AUTHENTICATION, message: 'x-api-key header is required' });
      if (key.includes('invalid')) return errorReply({ ...AUTHENTICATION, message: 'invalid x-api-key' });
      if (versionOf(headers) !== undefined) return undefined;
      const given = headers.get('anthropic-version');
      if (given === null) return errorReply(invalid('anthropic-version: header is required'));
      return errorReply(invalid(`anthropic-version: "${given}" is not one of ${API_VERSIONS.join(', ')}`));
    },
    replyHeaders: () => ({ 'request-id': newRequestId(), ...rateLimitHeaders(clock.now()) }),
    requestFacts(headers) {
      const { key, style } = credentialOf(headers);
      return {
        credential: key === '' ? '' : `...${key.slice(-4)}`,
        auth: style,
        anthropic_version: headers.get('anthropic-version'),
        retry_count: Number(headers.get('x-stainless-retry-count') ?? 0),
      };
    },
  };
}

const AUTHENTICATION = { status: 401, type: 'authentication_error' };

/** When both headers arrive, `x-api-key` wins. */
function credentialOf(headers: Headers): { key: string; style: 'x-api-key' | 'bearer' | 'none' } {
  const plain = headers.get('x-api-key')?.trim();
  if (plain) return { key: plain, style: 'x-api-key' };
  const bearer = headers.get('authorization')?.match(/^Bearer\s+(\S+)\s*$/i)?.[1];
  return bearer === undefined ? { key: '', style: 'none' } : { key: bearer, style: 'bearer' };
}

function rateLimitHeaders(now: number): Record<string, string> {
  const reset = new Date(now + RESET_MS).toISOString();
  return Object.fromEntries(
    Object.entries(LIMITS).flatMap(([name, limit]) => [
      [`anthropic-ratelimit-${name}-limit`, String(limit)],
      [`anthropic-ratelimit-${name}-remaining`, String(limit - 1)],
      [`anthropic-ratelimit-${name}-reset`, reset],
    ]),
  );
}
