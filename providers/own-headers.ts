/**
 * A fetch for an SDK that sends only headers of ours: no option keeps out those that the SDK adds from an environment
 * variable such as OPENAI_CUSTOM_HEADERS. `own` matches whole names in lower case.
 */
export function fetchWithHeaders(own: RegExp): typeof fetch {
  return (url, init = {}) =>
    fetch(url, { ...init, headers: [...new Headers(init.headers)].filter(([name]) => own.test(name)) });
}
