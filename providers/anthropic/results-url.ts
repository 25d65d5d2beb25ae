import { ProviderError } from '../provider-error.ts';

/**
 * Where the results of a batch are read, as an absolute URL. `results_url` must lie on the configured origin (scheme,
 * host and port): the key goes with the request, and the SDK would send it to whatever host is named. A path alone is
 * taken as one of the base address. Throws ProviderError `malformed_reply` for anything else.
 */
export function resolveResultsUrl(resultsUrl: string, baseUrl: string): string {
  const base = new URL(baseUrl);
  const isPath = resultsUrl.startsWith('/');
  const text = isPath ? `${baseUrl.replace(/\/+$/, '')}${resultsUrl}` : resultsUrl;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.origin !== base.origin || url.username !== '' || url.password !== '') {
    throw new ProviderError({
      code: 'malformed_reply',
      message: `the results are not at ${base.origin}, where the key belongs: nothing was sent`,
      isRetryable: false,
      mayHaveActed: false,
    });
  }
  return url.href;
}
