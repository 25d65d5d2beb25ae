import { Anthropic } from '@anthropic-ai/sdk';
import { fetchWithHeaders } from '../own-headers.ts';

/** Anthropic's API without `/v1`, which the SDK's paths have. */
const DEFAULT_BASE_URL = 'https://api.anthropic.com';
/** The headers a request of ours has; the SDK's own telemetry is `x-stainless-…`. */
const OWN_HEADERS = /^(accept|authorization|content-type|user-agent|anthropic-version|x-stainless-.*)$/;

/** `2026-10-21` refuses temperature, top_p and top_k; `2023-06-01` takes them (Anthropic API versioning docs). */
export type AnthropicApiVersion = '2026-10-21' | '2023-06-01';

/**
 * The official client, for one request a call. A create repeated by the SDK would be a second paid batch; reads and
 * cancels are repeated by the workflow, which sees each try, heeds the wait the provider asks for and can be stopped,
 * while the SDK sleeps unseen. Every option that the SDK would otherwise read from the environment is set.
 */
export function createClient({
  apiKey,
  baseUrl,
  apiVersion,
  requestTimeoutMs,
}: {
  apiKey: string;
  baseUrl: string | null;
  apiVersion: AnthropicApiVersion;
  requestTimeoutMs: number;
}): Anthropic {
  return new Anthropic({
    apiKey,
    authToken: null,
    webhookKey: null,
    baseURL: baseUrl ?? DEFAULT_BASE_URL,
    defaultHeaders: { 'anthropic-version': apiVersion, authorization: `Bearer ${apiKey}` },
    timeout: requestTimeoutMs,
    maxRetries: 0,
    // A followed redirect needs a second copy of the body in memory, and hands the key to another address.
    fetchOptions: { redirect: 'error' },
    fetch: fetchWithHeaders(OWN_HEADERS),
    openTelemetry: false,
    logLevel: 'off',
  });
}
