/** Nothing of an answer of the api is a page: it loads nothing, runs nothing and is shown in no frame. */
const CONTENT_POLICY = "default-src 'none'; frame-ancestors 'none'";

/**
 * Of every answer that does not set its own. Nothing for browsers of other origins (CORS) is among them, so a page elsewhere
 * reads no answer. `Strict-Transport-Security` is the TLS terminator's to set, since the api itself speaks no TLS.
 */
export const SECURITY_HEADERS: { readonly [name: string]: string } = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': CONTENT_POLICY,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};
