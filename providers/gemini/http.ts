import { withDeadline } from '../deadline.ts';
import { cutErrorBody } from '../error-body.ts';
import { ProviderError } from '../provider-error.ts';
import { malformedReply } from '../reply-error.ts';
import { toProviderError, toStatusError } from './errors.ts';

const GEMINI_ORIGIN = 'https://generativelanguage.googleapis.com';

/** What no header can carry would be quoted whole by the error that says so. */
const HEADER_VALUE = /^[!-~]{1,512}$/;

interface SendInit extends Pick<RequestInit, 'headers' | 'body'> {
  method: string;
  signal: AbortSignal;
}

export type GeminiHttp = ReturnType<typeof createHttp>;

/**
 * Requests to the Gemini API's REST paths, one for each call. Used where the SDK keeps facts of a reply to itself: its
 * batches drop the operation's `error` and `batchStats`, its creates of embedding batches write to the console, its list
 * takes a reply that is no list for an empty one, and its download ends the process on a cut connection.
 */
export function createHttp(settings: { apiKey: string; baseUrl: string | null; requestTimeoutMs: number }) {
  const { apiKey, requestTimeoutMs } = settings;
  const origin = (settings.baseUrl ?? GEMINI_ORIGIN).replace(/\/+$/, '');

  async function send(url: string, init: SendInit): Promise<Response> {
    const response = await exchange(url, init);
    if (response.ok) return response;
    throw toStatusError(await readRefusal(response), new Date());
  }

  /** One call within its time. Throws ProviderError only. */
  async function call<Reply>(
    signal: AbortSignal,
    request: (deadline: AbortSignal) => Promise<Reply>,
    timeoutMs = requestTimeoutMs,
  ): Promise<Reply> {
    if (!HEADER_VALUE.test(apiKey)) throw unusableKey();
    try {
      return await withDeadline({ signal, timeoutMs }, request);
    } catch (error) {
      throw toProviderError(error);
    }
  }

  const headers = () => ({ 'x-goog-api-key': apiKey, 'content-type': 'application/json' });

  async function readJson(signal: AbortSignal, path: string, init: Omit<SendInit, 'signal'>): Promise<unknown> {
    const text = await call(signal, async (deadline) =>
      (await send(`${origin}${path}`, { ...init, headers: headers(), signal: deadline })).text(),
    );
    try {
      return JSON.parse(text);
    } catch {
      throw malformedReply(null, 'JSON');
    }
  }

  return {
    origin,
    send,
    call,
    getJson: (path: string, signal: AbortSignal) => readJson(signal, path, { method: 'GET' }),
    /** One POST within its time, its reply handed to `read` whatever its status is. */
    post: <Reply>(
      { path, body, signal, timeoutMs }: { path: string; body: object; signal: AbortSignal; timeoutMs: number },
      read: (response: Response, deadline: AbortSignal) => Promise<Reply>,
    ): Promise<Reply> =>
      call(
        signal,
        async (deadline) => {
          const init = { method: 'POST', headers: headers(), body: JSON.stringify(body), signal: deadline };
          return read(await exchange(`${origin}${path}`, init), deadline);
        },
        timeoutMs,
      ),
    postJson: (path: string, body: object, signal: AbortSignal) =>
      readJson(signal, path, { method: 'POST', body: JSON.stringify(body) }),
    delete: (path: string, signal: AbortSignal) => readJson(signal, path, { method: 'DELETE', body: '{}' }),
    /** The reply once its headers are there; reading its body is not within the time. */
    open: (path: string, signal: AbortSignal) =>
      call(signal, (deadline) => send(`${origin}${path}`, { method: 'GET', headers: headers(), signal: deadline })),
  };
}

/** Redirects are refused: a followed one needs a second copy of the body in memory, and hands the key to another address. */
function exchange(url: string, init: SendInit): Promise<Response> {
  return fetch(url, { ...init, redirect: 'error' });
}

/** The status is said even where the rest of the reply does not come. */
export async function readRefusal(response: Response): Promise<{ status: number; headers: Headers; body: string }> {
  const body = await cutErrorBody(response)
    .text()
    .catch(() => '');
  return { status: response.status, headers: response.headers, body };
}

function unusableKey(): ProviderError {
  return new ProviderError({
    code: 'credential_refused',
    message: 'the API key holds characters that no key has',
    isRetryable: false,
    mayHaveActed: false,
  });
}
