import type { Dialect, Query } from '../endpoint.ts';
import { errorOfStatus, errorReply } from './errors.ts';

const REASON = 'type.googleapis.com/google.rpc.ErrorInfo';

/**
 * How the Gemini API answers any request: a key in `x-goog-api-key` or `?key=`, Google's error shape. A request without
 * a key is refused with 403, one with a wrong key with 400 (Gemini API docs, troubleshooting).
 */
export const geminiDialect: Dialect = {
  provider: 'gemini',
  errorReply: errorOfStatus,
  authenticate(headers, query) {
    const key = keyOf(headers, query);
    if (key === '') {
      return errorReply(
        'PERMISSION_DENIED',
        "Method doesn't allow unregistered callers. Please use API Key or other form of API consumer identity.",
      );
    }
    if (!key.includes('invalid')) return undefined;
    return errorReply('INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [
      { '@type': REASON, reason: 'API_KEY_INVALID', domain: 'googleapis.com' },
    ]);
  },
  replyHeaders: () => ({ vary: 'Origin, X-Origin, Referer', server: 'scaffolding on HTTPServer2' }),
  requestFacts(headers, query) {
    const key = keyOf(headers, query);
    return { credential: key === '' ? '' : `...${key.slice(-4)}` };
  },
};

function keyOf(headers: Headers, query: Query): string {
  return headers.get('x-goog-api-key') ?? query['key'] ?? '';
}
