import { cutErrorBody } from './error-body.ts';

/**
 * A fetch for an SDK that sends only headers of ours: no option keeps out those that the SDK adds from an environment
 * variable such as OPENAI_CUSTOM_HEADERS. `own` matches whole names in lower case. The body of a refusal, which the SDK
 * reads whole, is cut.
 */
export function fetchWithHeaders(own: RegExp): typeof fetch {
  return async (url, init = {}) =>
    cutErrorBody(
      await fetch(url, { ...init, headers: [...new Headers(init.headers)].filter(([name]) => own.test(name)) }),
    );
}
