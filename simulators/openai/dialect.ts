import { randomBytes } from 'node:crypto';
import type { Dialect } from '../endpoint.ts';
import { errorBody, errorOfStatus } from './errors.ts';

/** How OpenAI answers any request: bearer keys, its error shape, its headers (openai SDK types; OpenAI API docs). */
export const openAiDialect: Dialect = {
  provider: 'openai',
  errorReply: errorOfStatus,
  authenticate(headers) {
    const key = keyOf(headers);
    if (key === '') {
      const message = "You didn't provide an API key in an Authorization header using Bearer auth.";
      return { status: 401, json: errorBody({ message, code: null }) };
    }
    if (!key.includes('invalid')) return undefined;
    const message = `Incorrect API key provided: ${ending(key)}.`;
    return { status: 401, json: errorBody({ message, code: 'invalid_api_key' }) };
  },
  replyHeaders: () => ({
    'x-request-id': `req_${randomBytes(16).toString('hex')}`,
    'openai-version': '2020-10-01',
    'openai-organization': 'org-simulated',
    'x-ratelimit-limit-requests': '10000',
    'x-ratelimit-remaining-requests': '9999',
    'x-ratelimit-reset-requests': '6ms',
    'x-ratelimit-limit-tokens': '2000000',
    'x-ratelimit-remaining-tokens': '1999900',
    'x-ratelimit-reset-tokens': '3ms',
  }),
  requestFacts: (headers) => ({
    credential: ending(keyOf(headers)),
    retry_count: Number(headers.get('x-stainless-retry-count') ?? 0),
  }),
};

function keyOf(headers: Headers): string {
  return headers.get('authorization')?.match(/^Bearer\s+(\S+)\s*$/i)?.[1] ?? '';
}

/** Enough of a key to tell which one was used. */
function ending(key: string): string {
  return key === '' ? '' : `...${key.slice(-4)}`;
}
